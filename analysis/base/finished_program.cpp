#include "analysis/base/finished_program.h"

#include "analysis/base/files.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::analysis::inline base {
Launched<int> runToEnd(const ProgramCall &call, const StopSignals &signals) {
  const FileDescriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  BeforeExec before_exec;
  before_exec.in_child = [&] {
    if (call.is_short)
      setpgid(0, 0);
    dup2(nothing.get(), STDIN_FILENO);
    dup2(call.output, STDOUT_FILENO);
    dup2(call.messages, STDERR_FILENO);
    if (chdir(call.folder.c_str()) != 0)
      _exit(kNotFound);
  };
  const auto child = startProgram(call.program, call.command, call.environment, signals.found(), before_exec);
  if (!child)
    return tl::make_unexpected(child.error());
  if (!call.is_short)
    StopSignals::passTo(*child);
  int status = 0;
  while (waitpid(*child, &status, 0) < 0 && errno == EINTR)
    continue;
  StopSignals::passToNobody();
  return shellStatus(status);
}

} // namespace msleaks::analysis::inline base
