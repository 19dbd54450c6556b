#include "analysis/base/talking_program.h"

#include "analysis/base/program.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::analysis::inline base {
namespace {

// Returns the errno of a failure. The program's input and output are `socket`.
int spawn(std::vector<std::string> &command, int socket, pid_t &pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> environment = environmentWithout({"LD_PRELOAD", "MSLEAKS_SESSION"});
  const int error = posix_spawnp(&pid, command.front().c_str(), &actions, nullptr, pointersTo(command).data(),
                                 pointersTo(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

} // namespace

Result<std::unique_ptr<TalkingProgram>> TalkingProgram::start(std::vector<std::string> command) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(fmt::format("no socket for '{}': {}", command.front(), std::strerror(errno)), ExitStatus::OwnFault);
  FileDescriptor ours(ends[0]), its(ends[1]);
  pid_t pid = 0;
  if (const int error = spawn(command, its.get(), pid); error != 0)
    return fail(fmt::format("'{}': {}", command.front(), std::strerror(error)), ExitStatus::OwnFault);
  return std::unique_ptr<TalkingProgram>(new TalkingProgram(pid, std::move(ours)));
}

TalkingProgram::~TalkingProgram() {
  socket_.close();
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Without SIGPIPE, which would end msleaks if the program has ended.
void TalkingProgram::send(std::string_view bytes) {
  for (size_t sent = 0; good_ && sent < bytes.size();) {
    const ssize_t count = ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR)
      continue;
    good_ = count > 0;
    sent += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
}

void TalkingProgram::endInput() { shutdown(socket_.get(), SHUT_WR); }

std::string TalkingProgram::readLine() {
  std::string line;
  for (char next = 0;;) {
    const ssize_t count = ::read(socket_.get(), &next, 1);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0 || next == '\n')
      return line;
    line += next;
  }
}

} // namespace msleaks::analysis::inline base
