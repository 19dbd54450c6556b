// What the second run showed of a watched block: who wrote into it, while the program was in the finding's operation.
#pragma once

#include "analysis/second_run/verification.h"
#include "analysis/second_run/write_observer.h"

namespace msleaks::analysis::inline second_run {

// Writes by where they were made.
class Writes {
public:
  // `calls`: innermost first.
  void add(const Write &, std::vector<SiteText> calls);
  // Those that speak for the finding first; then in the order of time. At most so many.
  std::vector<WritePath> paths(size_t most) const;

private:
  std::vector<WritePath> paths_;
};

// Which blocks are the finding's. `wish`: the --watch of the first run.
WriteQuestion questionOf(const Finding &, const abi::WatchWish &wish);
// Blocks that the hooks tell of: the value of kTellVariable.
std::string toldBytes(const WriteQuestion &);

Judgement judgeWrites(const Finding &, const WriteSum &);

// Runs the program, and says in `verification` what that showed.
Result<void> verifyWrites(const Finding &, const SecondRun &, Verification &verification);

} // namespace msleaks::analysis::inline second_run
