# msleaks-clang and msleaks-clang++: one template, two compilers.
if(MSLEAKS_LLVM_VERSIONS)
  list(SORT MSLEAKS_LLVM_VERSIONS COMPARE NATURAL ORDER DESCENDING)
  list(GET MSLEAKS_LLVM_VERSIONS 0 default_llvm)
  foreach(compiler clang clang++)
    set(program msleaks-${compiler})
    configure_file(${PROJECT_SOURCE_DIR}/driver/wrappers/msleaks-clang.in ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${program} @ONLY
      FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    install(PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${program} TYPE BIN)
  endforeach()
endif()
