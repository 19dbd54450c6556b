# Generates man pages and shell completions from the options that msleaks and msleaks-run declare. Generates nothing
# without Python, or if the programs are built for another machine and cannot run on this one.
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_Interpreter_FOUND OR (CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR))
  return()
endif()

set(scripts ${PROJECT_SOURCE_DIR}/scripts)
set(made ${CMAKE_BINARY_DIR}/command_line)
set(told ${made}/msleaks.json ${made}/msleaks-run.json)
add_custom_command(
  OUTPUT ${made}/stamp
  COMMAND ${CMAKE_COMMAND} -E make_directory ${made}
  COMMAND msleaks --describe-options > ${made}/msleaks.json
  COMMAND msleaks_run --describe-options > ${made}/msleaks-run.json
  COMMAND Python3::Interpreter -B ${scripts}/man_pages.py ${told} ${PROJECT_VERSION} ${PROJECT_SOURCE_DIR}/docs ${made}/man
  COMMAND Python3::Interpreter -B ${scripts}/completions.py ${told} ${made}
  COMMAND ${CMAKE_COMMAND} -E touch ${made}/stamp
  DEPENDS msleaks msleaks_run ${scripts}/command_line.py ${scripts}/man_pages.py ${scripts}/completions.py
  COMMENT "Man pages and completions"
  VERBATIM)
add_custom_target(command_line_files ALL DEPENDS ${made}/stamp)

install(DIRECTORY ${made}/man/ DESTINATION share/man/man1 COMPONENT tools)
# bash looks for a completion file with the name of the program. So the file is installed under both names.
install(FILES ${made}/msleaks.bash DESTINATION share/bash-completion/completions RENAME msleaks COMPONENT tools)
install(FILES ${made}/msleaks.bash DESTINATION share/bash-completion/completions RENAME msleaks-run COMPONENT tools)
install(FILES ${made}/_msleaks DESTINATION share/zsh/vendor-completions COMPONENT tools)
install(FILES ${made}/msleaks.fish DESTINATION share/fish/vendor_completions.d COMPONENT tools)
# fish also looks for a completion file with the name of the program.
install(FILES ${made}/msleaks.fish DESTINATION share/fish/vendor_completions.d RENAME msleaks-run.fish COMPONENT tools)
