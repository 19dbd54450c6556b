# Installs the CMake package for other projects, which provides find_package(msleaks) and msleaks_instrument(target).
# The package finds its files by paths relative to itself.
include(CMakePackageConfigHelpers)

set(package_dir lib/cmake/msleaks)
configure_package_config_file(cmake/msleaksConfig.cmake.in ${CMAKE_BINARY_DIR}/${package_dir}/msleaksConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_PREFIX)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/${package_dir}/msleaksConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/${package_dir}/msleaksConfig.cmake ${CMAKE_BINARY_DIR}/${package_dir}/msleaksConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT dev)

# Installs the pages, without links to sources, which are not installed.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  set(pages ${CMAKE_BINARY_DIR}/installed_docs)
  install(CODE "execute_process(COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/scripts/installed_docs.py
    ${PROJECT_SOURCE_DIR} ${pages} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT tools)
  install(DIRECTORY ${pages}/ DESTINATION share/doc/msleaks COMPONENT tools)
else()
  install(FILES LICENSE DESTINATION share/doc/msleaks COMPONENT tools)
endif()

include(cmake/debian.cmake)
