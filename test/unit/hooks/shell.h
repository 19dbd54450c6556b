// Runs shell commands, with or without preloaded hooks. Contains the paths of the libraries under test.
#pragma once

#include "session_fixture.h"

#include <array>
#include <cstdio>
#include <string>

namespace msleaks::test {

inline const std::string kHooks = MSL_HOOKS_LIBRARY, kRuntime = MSL_RUNTIME_LIBRARY;

struct Ran {
  int status;
  std::string output;
};

inline Ran runShell(const std::string &command) {
  FILE *pipe = popen(command.c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer;
  for (size_t count; (count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), count);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), output};
}

inline std::string preloaded(const std::string &libraries, const std::string &command,
                             const SessionDirectory *session = nullptr) {
  return "env LD_PRELOAD=" + libraries + (session ? " MSLEAKS_SESSION=" + session->path().string() : "") + " " +
         command + " 2>&1";
}

} // namespace msleaks::test
