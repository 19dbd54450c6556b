# Writes syscalls.inc: the number and the name of each system call, from the headers of the system.
#
# write_syscalls(FOLDER)
function(write_syscalls folder)
  file(WRITE ${folder}/syscalls.c "#include <sys/syscall.h>\n")
  execute_process(COMMAND ${CMAKE_C_COMPILER} -E -dM ${folder}/syscalls.c OUTPUT_VARIABLE macros COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "#define __NR_[a-z0-9_]+ [0-9]+" rows "${macros}")
  set(list "")
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "#define __NR_([a-z0-9_]+) ([0-9]+)" "{\\2, \"\\1\"},\n" row "${row}")
    string(APPEND list "${row}")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/syscalls.inc CONTENT "@list@" @ONLY)
endfunction()
