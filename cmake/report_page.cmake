# Builds the page of `msleaks report --html` from tools/report, with npm. Without npm there is no page, and all else is whole.
#
# add_report_page(TARGET)    the target can include report_page.inc
function(add_report_page target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/report_page)
  set(inc ${folder}/report_page.inc)
  find_program(MSLEAKS_NPM npm)
  if(MSLEAKS_NPM)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/report/*)
    add_custom_command(
      OUTPUT ${inc}
      COMMAND ${PROJECT_SOURCE_DIR}/tools/report/build.sh ${MSLEAKS_NPM} ${folder}
      DEPENDS ${sources}
      COMMENT "Bundling the page of reports"
      VERBATIM)
    target_sources(${target} PRIVATE ${inc})
  elseif(NOT EXISTS ${inc})
    message(WARNING "npm is not installed, so `msleaks report --html` will have no page")
    file(WRITE ${inc} "inline constexpr std::string_view kPage[] = {\"\"};\n")
  endif()
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
