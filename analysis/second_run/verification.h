// A finding held against a second run of the program, in which nobody can touch its blocks unseen, or write into them
// (docs/verify.md).
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

// The first touches of blocks, by where they were made.
struct TouchPath {
  std::vector<SiteText> calls; // innermost first
  uint64_t blocks = 0;
  bool operator==(const TouchPath &) const = default;
};

// Facts of the second run about the blocks of the finding's place.
struct GuardedSum {
  uint64_t blocks = 0, bytes = 0;
  uint64_t touched_blocks = 0;
  uint64_t never_touched_bytes = 0; // of blocks of which nothing was touched
  uint64_t untouched_bytes = 0;     // of all blocks, by parts
  uint64_t doubtful_bytes = 0;      // of touched parts, but perhaps not touched
  uint64_t longest_wait_ns = 0;     // from a birth to the first touch, or to the block's end
  bool unwatched = false;           // some were opened without a touch
  bool refused = false;             // further blocks could not be guarded; they are in none of these sums
};
GuardedSum sumOf(const std::vector<std::shared_ptr<GuardedBlock>> &, uint64_t end_ns, uint64_t page_bytes);

// Writes into a watched block, by where they were made.
struct WritePath {
  std::vector<SiteText> calls; // innermost first
  uint64_t writes = 0;
  uint64_t begin = 0, end = 0;  // changed bytes of the block, up to behind the last one
  bool by_call = false;         // by the kernel, for a call of the thread
  bool given = false;           // to that call
  bool is_within = false;       // the finding's operation
  std::string operation;        // the thread's innermost range; empty: none
  std::optional<uint64_t> step; // of the first
};

// Facts of the second run about the block of a finding `trampled`.
struct WriteSum {
  uint64_t blocks = 0, bytes = 0; // that were watched
  uint64_t operations = 0;        // how often the program was in the finding's operation
  bool incomplete = false;        // some changes nobody has seen
  std::vector<WritePath> paths;
};

struct Judgement {
  Outcome outcome = Outcome::Unknown;
  std::string why; // one clause
};
// The kind of the finding says what its blocks' pages have to show.
Judgement judge(const Finding &, const GuardedSum &);
// Why no second run can say anything about such a finding; empty: one can.
std::string whyNotVerifiable(const Finding &);

struct Verification {
  std::string finding, kind;
  Judgement judgement;
  SiteText allocated_at;
  GuardedSum sum;
  std::vector<TouchPath> touches; // most blocks first
  std::optional<WriteSum> writes; // of a finding about who wrote
  int exit_status = -1;           // of the second run, as a shell reports it
};

struct SecondRun {
  std::vector<std::string> command;
  bool stdout_to_stderr = false; // the program's stdout, since ours is for the verdict
  abi::WatchWish watch{};        // what the first run was told to watch
};
// Runs the program, unless that can say nothing of the finding.
Result<Verification> verify(const Finding &, const SecondRun &);

void writeVerificationJson(std::ostream &, const Verification &);
void writeVerificationText(std::ostream &, const Verification &, size_t columns);

} // namespace msleaks::analysis::inline second_run
