# Configures the Debian packages. `cpack -G DEB` in the build folder builds one package for each component.
# scripts/check-packages.sh tests the packages.
set(CPACK_PACKAGE_NAME msleaks)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The msleaks developers <msleaks@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "finds where the memory of programs and accelerators goes")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL runtime tools dev)
set(same_version "(= ${PROJECT_VERSION})")

# describe(COMPONENT PACKAGE SUMMARY DEPENDENCIES): sets name, summary and dependencies of the component's package.
# Debian's shlibdeps adds the libraries that the package uses.
function(describe component package summary dependencies)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${dependencies}" PARENT_SCOPE)
endfunction()

describe(runtime msleaks-runtime "msleaks: libraries that record inside a program" "")
describe(tools msleaks "msleaks: msleaks, msleaks-run, wrappers of compilers, pages" "msleaks-runtime ${same_version}")
describe(dev msleaks-dev "msleaks: headers and CMake package" "msleaks-runtime ${same_version}")
foreach(version IN LISTS MSLEAKS_LLVM_VERSIONS)
  list(APPEND CPACK_COMPONENTS_ALL llvm${version})
  # The plugin calls LLVM's functions in the clang that loads it. So the package depends on clang.
  describe(llvm${version} msleaks-llvm-${version} "msleaks: compiler plugin for LLVM ${version}" "clang-${version}")
endforeach()
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "msleaks-dev")
include(CPack)
