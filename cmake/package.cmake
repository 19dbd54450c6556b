# The installed package: find_package(msleaks), msleaks_instrument(target). Everything in it is found relative to itself.
include(CMakePackageConfigHelpers)

set(package_dir lib/cmake/msleaks)
configure_package_config_file(cmake/msleaksConfig.cmake.in ${CMAKE_BINARY_DIR}/${package_dir}/msleaksConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_PREFIX)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/${package_dir}/msleaksConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/${package_dir}/msleaksConfig.cmake ${CMAKE_BINARY_DIR}/${package_dir}/msleaksConfigVersion.cmake
  DESTINATION ${package_dir})
install(FILES LICENSE README.md DESTINATION share/doc/msleaks OPTIONAL)
