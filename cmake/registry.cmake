# Writes <folder>.inc with one line MSL_ENTRY(stem) for each source file of a folder. The registry.cpp in this folder
# expands the list. So a new file, such as an analyzer or a verb, needs no change elsewhere.
#
# add_registry(TARGET FOLDER [EXCEPT stems...])    EXCEPT: files that do not register themselves
function(add_registry target folder)
  cmake_parse_arguments(PARSE_ARGV 2 registry "" "" "EXCEPT")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  set(list "")
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    if(NOT stem IN_LIST registry_EXCEPT AND NOT stem STREQUAL registry)
      string(APPEND list "MSL_ENTRY(${stem})\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${folder}.inc CONTENT "${list}" @ONLY)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
