// Compares a finding with a second run of the program. In this run, no touch of the finding's blocks and no write into
// them stays unseen (docs/verify.md).
#pragma once

#include "analysis/base/result.h"
#include "analysis/result/result.h"
#include "analysis/second_run/guarded_blocks.h"
#include "msleaks/abi/session.h"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace msleaks::analysis::inline second_run {

// Returns the value with this name in the finding's evidence. Without one of this type, it returns a default value.
template <class Value> Value evidenceOf(const Finding &finding, std::string_view wanted) {
  for (const auto &[name, value] : finding.evidence)
    if (const auto *found = std::get_if<Value>(&value); found && name == wanted)
      return *found;
  return {};
}

enum class Outcome : uint8_t { Proved, Refuted, Unknown };
const char *nameOf(Outcome);

// First touches of blocks that were made by the same calls.
struct TouchPath {
  std::vector<SiteText> calls; // innermost first
  uint64_t blocks = 0;
  bool operator==(const TouchPath &) const = default;
};

// Sums over the blocks of the finding's place in the second run.
struct GuardedSum {
  uint64_t blocks = 0, bytes = 0;
  uint64_t touched_blocks = 0;
  uint64_t never_touched_bytes = 0; // bytes of blocks that were not touched at all
  uint64_t untouched_bytes = 0;     // bytes of untouched parts of all blocks
  uint64_t doubtful_bytes = 0;      // bytes of touched parts that perhaps were not touched
  uint64_t longest_wait_ns = 0;     // time from a block's birth to its first touch or its end
  bool unwatched = false;           // some blocks were opened without a touch
  bool refused = false;             // other blocks could not be guarded; these sums do not contain them
};
GuardedSum sumOf(const std::vector<std::shared_ptr<GuardedBlock>> &, uint64_t end_ns, uint64_t page_bytes);

// Writes into a watched block that were made by the same calls.
struct WritePath {
  std::vector<SiteText> calls; // innermost first
  uint64_t writes = 0;
  uint64_t begin = 0, end = 0;  // changed bytes of the block; `end` is the byte after the last one
  bool by_call = false;         // the kernel wrote, in a system call of the thread
  bool given = false;           // the block was an argument of this system call
  bool is_within = false;       // the write was inside the finding's operation
  std::string operation;        // the innermost range of the thread; empty: none
  std::optional<uint64_t> step; // step of the first write
};

// Sums over the watched blocks of a finding `trampled` in the second run.
struct WriteSum {
  uint64_t blocks = 0, bytes = 0; // number and bytes of watched blocks
  uint64_t operations = 0;        // how often the program entered the finding's operation
  bool incomplete = false;        // some changes may not have been seen
  std::vector<WritePath> paths;
};

// The second run guards blocks of this size or more. Only samples are about smaller blocks (abi/sampled_block.h): all
// other findings about touches have at least the least size of --access.
inline constexpr uint64_t kLeastGuardedBytes = 16384;

struct Judgement {
  Outcome outcome = Outcome::Unknown;
  std::string why; // one clause
};
// Judges the finding. Its kind decides what the pages of its blocks must show.
Judgement judge(const Finding &, const GuardedSum &);
// Returns why a second run cannot prove or refute such a finding. Empty: it can.
std::string whyNotVerifiable(const Finding &);

struct Verification {
  std::string finding, kind;
  Judgement judgement;
  SiteText allocated_at;
  GuardedSum sum;
  std::vector<TouchPath> touches; // the path with most blocks first
  std::optional<WriteSum> writes; // only for a finding about writes
  int exit_status = -1;           // exit status of the second run, as a shell reports it
};

struct SecondRun {
  std::vector<std::string> command;
  bool stdout_to_stderr = false; // true: the program's stdout goes to stderr, because our stdout is for the verdict
  abi::WatchWish watch{};        // what the first run was told to watch
};
// Runs the program, but only if a second run can say something about the finding.
Result<Verification> verify(const Finding &, const SecondRun &);

void writeVerificationJson(std::ostream &, const Verification &);
void writeVerificationText(std::ostream &, const Verification &, size_t columns);

} // namespace msleaks::analysis::inline second_run
