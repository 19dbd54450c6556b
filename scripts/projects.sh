# Describes the projects that check-projects.sh builds. check-projects.sh sources this file.
#
# Each project X has five parts:
#
#   packages[X]   Debian's source package, and patterns of the files to unpack
#   kinds[X]      describes the project in the table that check-projects.sh prints at the end
#   results[X]    a pattern of the lines in the tests' output that contain results
#   build_X       builds the project, with CC, CXX, AR and RANLIB set
#   test_X        runs the project's tests in the same folder, which is a copy of the source
# shellcheck disable=SC2034,SC2154
projects=(zlib bzip2 jansson libdeflate cjson mimalloc expat brotli tinyxml2 asio)
declare -A packages kinds results

with_cmake() { # OPTIONS...
  cmake -S . -B b -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_AR="$(command -v "$AR")" -DCMAKE_RANLIB="$(command -v "$RANLIB")" "$@"
  cmake --build b --parallel "$jobs"
}
run_ctest() { ctest --test-dir "${1:-b}" --output-on-failure; }

packages[zlib]=zlib kinds[zlib]="C, configure and make" results[zlib]='test OK|FAILED'
build_zlib() { ./configure && make -j "$jobs"; }
test_zlib() { make test; }

packages[bzip2]=bzip2 kinds[bzip2]="C, full LTO" results[bzip2]='bzip2|test|cmp|worked|fail'
build_bzip2() { make -j "$jobs" CC="$CC" AR="$AR" RANLIB="$RANLIB" CFLAGS='-O2 -g -flto=full -D_FILE_OFFSET_BITS=64' LDFLAGS='-fuse-ld=lld -flto=full' libbz2.a bzip2 bzip2recover; }
test_bzip2() { make test CC=false; }

packages[jansson]=jansson kinds[jansson]="C, full LTO" results[jansson]='Passed|Failed'
build_jansson() { with_cmake -DJANSSON_BUILD_DOCS=OFF -DCMAKE_C_FLAGS=-flto=full -DCMAKE_EXE_LINKER_FLAGS='-flto=full -fuse-ld=lld'; }
test_jansson() { run_ctest; }

packages[libdeflate]=libdeflate kinds[libdeflate]="C, ThinLTO, library without libc" results[libdeflate]='^\+ \./test|passed'
build_libdeflate() { make -j "$jobs" CC="$CC" AR="$AR" CFLAGS='-O2 -g -flto=thin' LDFLAGS='-flto=thin -fuse-ld=lld' all test_programs; }
test_libdeflate() { sh -x ./scripts/check.sh && echo "check.sh passed"; } # check.sh prints no result, and ends at the first test that fails

packages[cjson]=cjson kinds[cjson]="C, its ASan and UBSan build" results[cjson]='Passed|Failed'
build_cjson() { with_cmake -DENABLE_SANITIZERS=On -DENABLE_CJSON_UTILS=On -DENABLE_HIDDEN_SYMBOLS=Off; }
test_cjson() { run_ctest; }

packages[mimalloc]=mimalloc kinds[mimalloc]="C, an allocator" results[mimalloc]='Passed|Failed'
build_mimalloc() { with_cmake; }
test_mimalloc() { run_ctest; }

packages[expat]=expat kinds[expat]="C and C++" results[expat]='Passed|Failed'
build_expat() { cd expat && with_cmake -DEXPAT_BUILD_DOCS=OFF; }
test_expat() { run_ctest expat/b; }

packages[brotli]=brotli kinds[brotli]="C" results[brotli]='Passed|Failed'
build_brotli() { with_cmake; }
test_brotli() { run_ctest; }

packages[tinyxml2]=tinyxml2 kinds[tinyxml2]="C++" results[tinyxml2]='Passed|Failed|\[pass\]|\[fail\]|^Pass'
build_tinyxml2() { with_cmake -DBUILD_TESTING=ON -DBUILD_SHARED_LIBS=ON; }
test_tinyxml2() { run_ctest; b/xmltest || ./b/bin/xmltest; }

# Boost.Asio's own tests of coroutines. Each test is one source file. The tarball of Debian's source package asio is
# missing, so Boost's package is used.
packages[asio]="boost1.81 boost/libs/*/include/* boost/libs/asio/test/*" kinds[asio]="C++20 coroutines, ThinLTO"
results[asio]='passed|failed|errors'
build_asio() {
  local includes=() folder test
  for folder in libs/*/include libs/*/*/include; do
    [[ -d $folder ]] && includes+=("-I$folder")
  done
  for test in simple_test cancel exception partial use_coro; do
    "$CXX" -std=c++20 -O2 -g -w -pthread -flto=thin -fuse-ld=lld "${includes[@]}" "libs/asio/test/experimental/coro/$test.cpp" -o "coro_$test"
  done
}
test_asio() { for test in ./coro_*; do "$test"; done; }
