#include "analysis/base/program.h"

#include "msleaks/abi/guarded.h"
#include "msleaks/abi/session.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::analysis::inline base {
namespace {

namespace fs = std::filesystem;
constexpr char kPreloadVariable[] = "LD_PRELOAD";

tl::unexpected<LaunchError> cannotStart(const std::string &name, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  return tl::make_unexpected(
      LaunchError{fmt::format("{}: {}", name, std::strerror(error)), missing ? kNotFound : kNotExecutable});
}

// Returns 0, or the errno that says why the file is not a program.
int whyNot(const fs::path &file) {
  struct stat facts{};
  if (stat(file.c_str(), &facts) != 0)
    return errno;
  if (S_ISDIR(facts.st_mode))
    return EISDIR;
  return access(file.c_str(), X_OK) == 0 ? 0 : errno;
}

// "/bin::" -> "/bin", ".", ".": an empty element means the current folder, even at the end.
std::vector<std::string> foldersOf(const std::string &variable) {
  std::vector<std::string> folders;
  for (size_t begin = 0; begin <= variable.size();) {
    const size_t end = std::min(variable.find(':', begin), variable.size());
    folders.push_back(end == begin ? "." : variable.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

} // namespace

Launched<fs::path> findProgram(const std::string &name) {
  if (name.empty())
    return cannotStart("''", ENOENT);
  if (name.find('/') != std::string::npos) {
    const int error = whyNot(name);
    return error == 0 ? Launched<fs::path>(name) : cannotStart(name, error);
  }
  const char *variable = std::getenv("PATH");
  int error = ENOENT;
  for (const std::string &folder : foldersOf(variable ? variable : "/bin:/usr/bin")) {
    fs::path candidate = fs::path(folder) / name;
    const int reason = whyNot(candidate);
    if (reason == 0)
      return candidate;
    if (reason != ENOENT && reason != ENOTDIR && reason != EISDIR)
      error = reason; // keeps the error, but continues to search, as a shell does
  }
  return cannotStart(name, error);
}

bool canPreload(const fs::path &path) { return path.native().find_first_of(" :\t\n") == std::string::npos; }

namespace {

// NVTX loads the library that this variable names, to report to it. A library that the user has set is kept.
void addInjection(const std::vector<std::string> &preload, std::vector<std::string> &environment) {
  constexpr std::string_view kInjection = "NVTX_INJECTION64_PATH=";
  const auto names = [&](const std::string &entry) { return entry.starts_with(kInjection); };
  const auto hooks = std::find_if(preload.begin(), preload.end(), [](const std::string &library) {
    return fs::path(library).filename().string().starts_with("libmsleaks_hooks");
  });
  if (hooks != preload.end() && std::none_of(environment.begin(), environment.end(), names))
    environment.push_back(std::string(kInjection) + *hooks);
}

} // namespace

std::vector<char *> pointersTo(const std::vector<std::string> &strings) {
  std::vector<char *> pointers;
  for (const std::string &text : strings)
    pointers.push_back(const_cast<char *>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environmentWithout(const std::vector<std::string> &names,
                                            const std::vector<std::string> &more) {
  const auto nameOf = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  const auto isNamed = [&](std::string_view name) {
    return std::ranges::find(names, name) != names.end() || std::ranges::find(more, name, nameOf) != more.end();
  };
  std::vector<std::string> environment = more;
  for (char **entry = environ; *entry; ++entry)
    if (!isNamed(nameOf(*entry)))
      environment.push_back(*entry);
  return environment;
}

std::vector<std::string> makeEnvironment(const std::string &variable, std::vector<std::string> preload) {
  std::vector<std::string> environment =
      environmentWithout({abi::kSessionVariable, abi::kGuardVariable, abi::kTellVariable, kPreloadVariable});
  if (!variable.empty())
    environment.push_back(variable);
  if (const char *found = std::getenv(kPreloadVariable); found != nullptr && *found != '\0')
    preload.push_back(found);
  addInjection(preload, environment);
  if (!preload.empty())
    environment.push_back(fmt::format("{}={}", kPreloadVariable, fmt::join(preload, ":")));
  return environment;
}

int shellStatus(int wait_status) {
  constexpr int kSignalled = 128;
  if (wait_status == -1)
    return -1;
  return WIFSIGNALED(wait_status) ? kSignalled + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

Launched<pid_t> startProgram(const fs::path &program, const std::vector<std::string> &command,
                             const std::vector<std::string> &environment, const SignalSetup &signals,
                             const BeforeExec &before_exec) {
  const std::vector<char *> arguments = pointersTo(command), variables = pointersTo(environment);
  // If a script has no #!, /bin/sh runs it. execvp does the same.
  std::vector<std::string> script{"/bin/sh", program.string()};
  script.insert(script.end(), command.begin() + 1, command.end());
  const std::vector<char *> scriptArguments = pointersTo(script);

  int report[2]; // closed by a successful exec
  if (pipe2(report, O_CLOEXEC) != 0)
    return cannotStart(command[0], errno);
  int go[2]; // closed by us when the child may call exec
  if (pipe2(go, O_CLOEXEC) != 0) {
    const int error = errno;
    close(report[0]);
    close(report[1]);
    return cannotStart(command[0], error);
  }
  const pid_t pid = fork();
  if (pid == 0) {
    for (const SignalSetup::Disposition &found : signals.dispositions)
      sigaction(found.signal, &found.action, nullptr);
    sigprocmask(SIG_SETMASK, &signals.mask, nullptr);
    before_exec.in_child();
    close(go[1]);
    char end;
    [[maybe_unused]] const ssize_t none = read(go[0], &end, sizeof end);
    execve(program.c_str(), arguments.data(), variables.data());
    if (errno == ENOEXEC)
      execve(script[0].c_str(), scriptArguments.data(), variables.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t told = write(report[1], &error, sizeof error);
    _exit(kNotFound);
  }
  int error = pid < 0 ? errno : 0;
  if (pid > 0 && before_exec.in_parent)
    before_exec.in_parent(pid);
  close(go[0]);
  close(go[1]);
  close(report[1]);
  if (pid > 0 && before_exec.meanwhile)
    before_exec.meanwhile();
  if (pid > 0 && read(report[0], &error, sizeof error) != sizeof error)
    error = 0;
  close(report[0]);
  if (error == 0)
    return pid;
  if (pid > 0)
    waitpid(pid, nullptr, 0);
  return cannotStart(command[0], error);
}

} // namespace msleaks::analysis::inline base
