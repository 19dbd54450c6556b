// Runs git.
#pragma once

#include "analysis/base/result.h"
#include "analysis/base/signals.h"

#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis::inline compare {

// The output of a call of git.
struct GitAnswer {
  int status = 0;
  std::string text;     // on stdout, without its last newline
  std::string messages; // on stderr

  // The first line of the messages; without messages, the status.
  std::string reason() const;
};

// Git in one folder. Hooks of the repository do not run.
class Git {
public:
  // In the current folder of this process. An error: PATH has no git. `signals` must outlive the object.
  static Result<Git> find(const StopSignals &signals);
  // In another working tree. Variables such as GIT_DIR, which name our own one, do not count there. An error: git does
  // not name them.
  Result<Git> in(const std::filesystem::path &tree) const;

  Result<GitAnswer> call(const std::vector<std::string> &arguments) const;
  // What git prints. An error: git failed. The message begins with `failure`, and ends with the first line of git's.
  Result<std::string> ask(const std::vector<std::string> &arguments, const std::string &failure) const;

  // Our environment for a program in another working tree.
  std::vector<std::string> environment(const std::vector<std::string> &more = {}) const;

private:
  Git(const StopSignals &signals, std::filesystem::path program, std::filesystem::path folder)
      : signals_(&signals), program_(std::move(program)), folder_(std::move(folder)) {}

  const StopSignals *signals_;
  std::filesystem::path program_, folder_;
  std::vector<std::string> local_variables_; // that the environment leaves out
};

} // namespace msleaks::analysis::inline compare
