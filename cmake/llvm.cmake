# Finds the LLVM versions for which a plugin is built. MSLEAKS_LLVM_VERSIONS lists major versions, which are found by
# the program llvm-config-<version> of Debian's packages. One more LLVM (a vendor's, or one built from source) may be
# given by its CMake package: -DLLVM_DIR=…. Its version is added to MSLEAKS_LLVM_VERSIONS.
#
# For each version, sets MSLEAKS_LLVM_INCLUDES_<version> to the include folder of LLVM, and MSLEAKS_LLVM_TOOLS_<version>
# to the folder of clang, opt and lld.

foreach(version IN LISTS MSLEAKS_LLVM_VERSIONS)
  find_program(MSLEAKS_LLVM_CONFIG_${version} NAMES llvm-config-${version} HINTS /usr/lib/llvm-${version}/bin)
  if(NOT MSLEAKS_LLVM_CONFIG_${version})
    message(FATAL_ERROR "llvm-config-${version} not found: install llvm-${version}-dev, or leave ${version} out of MSLEAKS_LLVM_VERSIONS")
  endif()
  foreach(what IN ITEMS includedir bindir)
    execute_process(COMMAND ${MSLEAKS_LLVM_CONFIG_${version}} --${what} OUTPUT_VARIABLE ${what}
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  set(MSLEAKS_LLVM_INCLUDES_${version} ${includedir})
  set(MSLEAKS_LLVM_TOOLS_${version} ${bindir})
endforeach()

# This is a function, so that the hundred variables of LLVM's package are not visible outside it.
function(_msleaks_read_llvm_dir)
  find_package(LLVM REQUIRED CONFIG NO_DEFAULT_PATH PATHS ${LLVM_DIR})
  if(LLVM_VERSION_MAJOR LESS 16)
    message(FATAL_ERROR "LLVM_DIR is LLVM ${LLVM_PACKAGE_VERSION}; the plugin needs 16 or later")
  endif()
  set(MSLEAKS_LLVM_INCLUDES_${LLVM_VERSION_MAJOR} ${LLVM_INCLUDE_DIRS} PARENT_SCOPE)
  set(MSLEAKS_LLVM_TOOLS_${LLVM_VERSION_MAJOR} ${LLVM_TOOLS_BINARY_DIR} PARENT_SCOPE)
  set(MSLEAKS_LLVM_VERSIONS ${MSLEAKS_LLVM_VERSIONS} ${LLVM_VERSION_MAJOR} PARENT_SCOPE)
endfunction()

if(LLVM_DIR)
  _msleaks_read_llvm_dir()
  list(REMOVE_DUPLICATES MSLEAKS_LLVM_VERSIONS)
endif()
