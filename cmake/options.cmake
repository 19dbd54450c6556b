# Compile and link options for all targets of msleaks, such as warnings and sanitizers. A target gets these options with
# `target_link_libraries(x PRIVATE msleaks::options)`.

add_library(msleaks_options INTERFACE)
add_library(msleaks::options ALIAS msleaks_options)
target_compile_options(msleaks_options INTERFACE
  -Wall -Wextra -Wpedantic -Werror=return-type
  $<$<CXX_COMPILER_ID:Clang>:-Wno-gnu-zero-variadic-macro-arguments>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  # stable_sort of libstdc++ 12 calls a function that libstdc++ itself deprecates. Clang would warn at each use.
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>)
if(MSLEAKS_SANITIZE)
  target_compile_options(msleaks_options INTERFACE -fsanitize=${MSLEAKS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_compile_definitions(msleaks_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(msleaks_options INTERFACE -fsanitize=${MSLEAKS_SANITIZE})
endif()

# The code that fuzz targets test is compiled with coverage, which guides the fuzzer. Tests are compiled without
# coverage, which halves their compile time.
add_library(msleaks_fuzzed INTERFACE)
if(MSLEAKS_BUILD_FUZZERS)
  target_compile_options(msleaks_fuzzed INTERFACE -fsanitize=fuzzer-no-link)
endif()

# The build folder has the layout of an installation, so programs find their libraries by the same relative paths.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_BINDIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_INSTALL_LIBDIR lib)

# Compiles up to eight sources of a target as one translation unit, so their headers are read only once. This halves the
# time of a build. It saves three quarters of the time for tests, because their fixtures and assertions are templates.
#
# Because sources are joined, a name in an anonymous namespace must be unique in its target. A source may also lack an
# include that another joined source has. scripts/check-deep.sh compiles each source alone to find such sources.
#
# CMake's own UNITY_BUILD writes absolute paths, so ccache could not reuse the results of another clone. A source with
# compile options or definitions of its own is not joined.
#
# join_sources(TARGETS...)
option(MSLEAKS_JOIN_SOURCES "compile up to eight sources of a target together" ON)
function(join_sources)
  if(NOT MSLEAKS_JOIN_SOURCES)
    return()
  endif()
  foreach(target IN LISTS ARGN)
    # gcc treats the included sources like headers, and would warn about their types in anonymous namespaces.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_joined)
    get_target_property(all_sources ${target} SOURCES)
    set(sources "")
    foreach(source IN LISTS all_sources)
      get_source_file_property(options ${source} COMPILE_OPTIONS)
      get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
      if(NOT options AND NOT definitions)
        list(APPEND sources ${source})
      endif()
    endforeach()
    set(number 0)
    while(sources)
      list(SUBLIST sources 0 8 batch)
      list(REMOVE_ITEM sources ${batch})
      set(includes "")
      foreach(source IN LISTS batch)
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
        file(RELATIVE_PATH path ${folder} ${source})
        string(APPEND includes "#include \"${path}\"\n")
      endforeach()
      file(CONFIGURE OUTPUT ${folder}/${number}.cpp CONTENT "${includes}" @ONLY)
      set_source_files_properties(${batch} PROPERTIES HEADER_FILE_ONLY ON)
      target_sources(${target} PRIVATE ${folder}/${number}.cpp)
      math(EXPR number "${number} + 1")
    endwhile()
  endforeach()
endfunction()

# Reading the headers of a source takes longer than compiling the source itself. So headers are precompiled, if the
# compiler is clang. Targets with the same options share the precompiled headers.
set(MSLEAKS_PRECOMPILES_LIBRARIES OFF)
if(MSLEAKS_PRECOMPILE AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(MSLEAKS_PRECOMPILES_LIBRARIES ON)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>") # ccache needs this option
endif()
