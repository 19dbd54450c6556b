# Builds the pages of `msleaks report --html` and `msleaks cfg --html` from tools/report, with npm. Without npm there are no pages, and
# all else is whole.
#
# add_report_pages(TARGETS…)    the targets can include report_page.inc and graphs_page.inc
function(add_report_pages)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/report_page)
  set(pages ${folder}/report_page.inc ${folder}/graphs_page.inc)
  find_program(MSLEAKS_NPM npm)
  if(MSLEAKS_NPM)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/report/*)
    add_custom_command(
      OUTPUT ${pages}
      COMMAND ${PROJECT_SOURCE_DIR}/tools/report/build.sh ${MSLEAKS_NPM} ${folder}
      DEPENDS ${sources}
      COMMENT "Bundling the pages"
      VERBATIM)
    add_custom_target(report_pages DEPENDS ${pages})
  elseif(NOT EXISTS ${folder}/graphs_page.inc)
    message(WARNING "npm is not installed, so --html of report, compare and cfg will write no page")
    file(WRITE ${folder}/report_page.inc "inline constexpr std::string_view kPage[] = {\"\"};\n")
    file(WRITE ${folder}/graphs_page.inc "inline constexpr std::string_view kGraphsPage[] = {\"\"};\n")
  endif()
  foreach(target IN LISTS ARGN)
    if(MSLEAKS_NPM)
      add_dependencies(${target} report_pages)
    endif()
    target_include_directories(${target} PRIVATE ${folder})
  endforeach()
endfunction()
