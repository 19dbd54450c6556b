#include "run/progress.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace msleaks::driver {
namespace {

bool isSameTerminal(int one, int other) {
  struct stat a{}, b{};
  return fstat(one, &a) == 0 && fstat(other, &b) == 0 && S_ISCHR(a.st_mode) && S_ISCHR(b.st_mode) &&
         a.st_rdev == b.st_rdev;
}

// Whether the program reads from and writes to the terminal. The progress line could overwrite the output of such a
// program.
bool isInteractive() {
  return isSameTerminal(STDIN_FILENO, STDERR_FILENO) && isSameTerminal(STDOUT_FILENO, STDERR_FILENO);
}

} // namespace

RunProgress::RunProgress(Progress wish)
    : line_(wish == Progress::Shown || (wish == Progress::IfHarmless && !isInteractive())),
      start_ns_(analysis::readMonotonicNs()), last_ns_(start_ns_) {}

void RunProgress::draw(const analysis::CollectorProgress &progress) {
  if (!line_.due())
    return;
  const uint64_t now = analysis::readMonotonicNs();
  const double rate = static_cast<double>(progress.stored - last_stored_) * 1e9 / static_cast<double>(now - last_ns_);
  line_.draw(fmt::format("msleaks: {} s, {} processes, {} events ({:.2f} M/s), {} dropped",
                         (now - start_ns_) / 1'000'000'000, progress.processes, progress.stored, rate / 1e6,
                         progress.dropped));
  last_ns_ = now;
  last_stored_ = progress.stored;
}

} // namespace msleaks::driver
