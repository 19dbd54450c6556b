// The name and the rank by which people know a process of a job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline reach {

// Returns the rank that a launcher has given by a variable of this environment, such as RANK=3. The texts of the
// environment end with NUL. Nothing: there is no such variable, or it is no number.
std::optional<uint32_t> rankIn(std::string_view environment);

class ProcessIdentity {
public:
  // Reads the name, and at the first time the rank. `pid`: in the caller's pid namespace; 0 = not visible there.
  void look(uint32_t pid);

  // The name that the kernel shows, at most 15 bytes. A process may change it, so the last look counts. Empty: not
  // known.
  const std::string &name() const { return name_; }
  // From the environment with which the process' program began.
  std::optional<uint32_t> rank() const { return rank_; }

private:
  std::string name_;
  std::optional<uint32_t> rank_;
  bool has_looked_ = false;
};

} // namespace msleaks::analysis::inline reach
