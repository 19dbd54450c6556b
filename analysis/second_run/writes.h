// Collects who wrote into a watched block during the second run, while the program was in the finding's operation.
#pragma once

#include "analysis/second_run/verification.h"
#include "analysis/second_run/write_observer.h"

namespace msleaks::analysis::inline second_run {

// Groups writes by the calls that made them.
class Writes {
public:
  // `calls` are innermost first.
  void add(const Write &, std::vector<SiteText> calls);
  // Returns at most `most` paths. Paths that support the finding come first, then the others in the order of time.
  std::vector<WritePath> paths(size_t most) const;

private:
  std::vector<WritePath> paths_;
};

// Returns which blocks belong to the finding. `wish` is the --watch of the first run.
WriteQuestion questionOf(const Finding &, const abi::WatchWish &wish);
// Returns the value of kTellVariable, which names the blocks that the hooks report.
std::string toldBytes(const WriteQuestion &);

Judgement judgeWrites(const Finding &, const WriteSum &);

// Runs the program, and adds the result to `verification`.
Result<void> verifyWrites(const Finding &, const SecondRun &, Verification &verification);

} // namespace msleaks::analysis::inline second_run
