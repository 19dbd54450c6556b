// Finds the user's program, makes its environment, and starts it.
#pragma once

#include "analysis/base/result.h"

#include <filesystem>
#include <functional>
#include <signal.h>
#include <string>
#include <sys/types.h>
#include <vector>

namespace msleaks::analysis::inline base {

// The exit statuses of a shell for these two errors.
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

// Why a program cannot be started.
struct LaunchError {
  std::string message;
  int exit_status;
};
template <class T> using Launched = tl::expected<T, LaunchError>;

// Searches like execvp: a name with a slash is a path. For another name, returns the first executable file in PATH.
Launched<std::filesystem::path> findProgram(const std::string &name);

// Whether LD_PRELOAD can contain the path: it cannot contain a path with a space or a colon.
bool canPreload(const std::filesystem::path &path);

// Returns our own environment without the variables `names`, and with the variables `more` ("NAME=value").
std::vector<std::string> environmentWithout(const std::vector<std::string> &names,
                                            const std::vector<std::string> &more = {});
// Returns pointers to the strings, and a null pointer behind them, as execve takes them.
std::vector<char *> pointersTo(const std::vector<std::string> &);

// Returns our own environment, with `variable` ("NAME=value") and with `preload` before the old content of LD_PRELOAD.
// `variable` tells the hooks what to do. If it is empty, the hooks record nothing.
std::vector<std::string> makeEnvironment(const std::string &variable, std::vector<std::string> preload);

// The state of signals that the program must inherit: which are blocked, and the actions that we have replaced.
struct SignalSetup {
  struct Disposition {
    int signal;
    struct sigaction action;
  };
  sigset_t mask;
  std::vector<Disposition> dispositions;
};

// Returns a wait status as a shell reports it: 0..255, or 128 + signal. -1 means that the status is not known.
int shellStatus(int wait_status);

// Actions between fork and exec.
struct BeforeExec {
  std::function<void()> in_child = [] {};    // calls only functions that are safe after a fork
  std::function<void(pid_t)> in_parent = {}; // the child waits until this returns
  std::function<void()> meanwhile = {};      // in the parent, during the child's exec: a tracer must continue it
};

// Calls fork and exec. If exec fails in the child, returns its error.
Launched<pid_t> startProgram(const std::filesystem::path &program, const std::vector<std::string> &command,
                             const std::vector<std::string> &environment, const SignalSetup &, const BeforeExec & = {});

} // namespace msleaks::analysis::inline base
