// The user's program: found, given its environment, started.
#pragma once

#include "analysis/base/result.h"

#include <filesystem>
#include <functional>
#include <signal.h>
#include <string>
#include <sys/types.h>
#include <vector>

namespace msleaks::analysis::inline base {

// As a shell says it.
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

// Why a program cannot be started.
struct LaunchError {
  std::string message;
  int exit_status;
};
template <class T> using Launched = tl::expected<T, LaunchError>;

// As execvp finds it: a name with a slash as it is, else the first executable one in PATH.
Launched<std::filesystem::path> findProgram(const std::string &name);

// LD_PRELOAD has no way to write a path with a space or a colon.
bool canPreload(const std::filesystem::path &path);

// Our own environment with `variable` ("NAME=value"), which tells the hooks what they are for (nothing: they pass
// everything on), and with `preload` in front of what LD_PRELOAD held.
std::vector<std::string> makeEnvironment(const std::string &variable, std::vector<std::string> preload);

// What the program must find as we found it: the signals that are blocked, and what those do that we need otherwise.
struct SignalSetup {
  struct Disposition {
    int signal;
    struct sigaction action;
  };
  sigset_t mask;
  std::vector<Disposition> dispositions;
};

// Actions between fork and exec.
struct BeforeExec {
  std::function<void()> in_child = [] {};    // only what may be done behind a fork
  std::function<void(pid_t)> in_parent = {}; // the child waits for its end
  std::function<void()> meanwhile = {};      // in the parent, while the child calls exec: what that needs to go on
};

// fork and exec. The error of exec comes back as ours.
Launched<pid_t> startProgram(const std::filesystem::path &program, const std::vector<std::string> &command,
                             const std::vector<std::string> &environment, const SignalSetup &, const BeforeExec & = {});

} // namespace msleaks::analysis::inline base
