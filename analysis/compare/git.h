// Runs git.
#pragma once

#include "analysis/base/result.h"
#include "analysis/base/signals.h"

#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis::inline compare {

// The output of one call of git.
struct GitAnswer {
  int status = 0;
  std::string text;     // stdout, without its last newline
  std::string messages; // stderr

  // Returns the first line of the messages. Without messages, returns the status.
  std::string reason() const;
};

// Runs git in one folder. Hooks of the repository do not run.
class Git {
public:
  // Returns a Git for the current folder of this process. An error: PATH has no git. `signals` must outlive the object.
  static Result<Git> find(const StopSignals &signals);
  // Returns a Git for another working tree. There, git does not see our variables that name a working tree, such as
  // GIT_DIR. An error: git does not name these variables.
  Result<Git> in(const std::filesystem::path &tree) const;

  Result<GitAnswer> call(const std::vector<std::string> &arguments) const;
  // Returns what git prints. An error: git failed. The error's message begins with `failure` and ends with the first
  // line of git's message.
  Result<std::string> ask(const std::vector<std::string> &arguments, const std::string &failure) const;

  // Returns our environment, changed for a program in this working tree.
  std::vector<std::string> environment(const std::vector<std::string> &more = {}) const;

private:
  Git(const StopSignals &signals, std::filesystem::path program, std::filesystem::path folder)
      : signals_(&signals), program_(std::move(program)), folder_(std::move(folder)) {}

  const StopSignals *signals_;
  std::filesystem::path program_, folder_;
  std::vector<std::string> local_variables_; // variables that the environment leaves out
};

} // namespace msleaks::analysis::inline compare
