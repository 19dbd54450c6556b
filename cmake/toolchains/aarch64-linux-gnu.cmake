# The toolchain file to cross-compile for 64-bit ARM on Debian, with the package g++-aarch64-linux-gnu. The arm64
# libraries are in a sysroot, which scripts/check-aarch64.sh creates. So no package of the machine is replaced.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
cmake_path(SET repository NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../..)
set(MSLEAKS_SYSROOT ${repository}/build/aarch64/sysroot CACHE PATH "folder with the libraries of the target")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MSLEAKS_SYSROOT)

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT -Wl,--build-id) # Debian's native compilers also do this
endforeach()
set(CMAKE_SYSROOT ${MSLEAKS_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${MSLEAKS_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${MSLEAKS_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${MSLEAKS_SYSROOT}/usr/share/pkgconfig)

# If qemu-user is installed, ctest runs the tests under it.
find_program(MSLEAKS_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(MSLEAKS_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${MSLEAKS_QEMU} -L ${MSLEAKS_SYSROOT})
endif()
