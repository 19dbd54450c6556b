#include "analysis/base/text.h"
#include "analysis/result/finding_kinds.h"
#include "analysis/second_run/verification.h"
#include "analysis/second_run/writes.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace msleaks::analysis::inline second_run {
namespace {

// Shares of the first run's numbers that the second run must reach, because two runs are never quite equal.
constexpr double kMostOf = 0.95, kHalf = 0.5;

constexpr char kRefused[] = "not all blocks that were allocated there could be guarded";

bool isEnough(uint64_t seen, uint64_t said, double part) {
  return static_cast<double>(seen) >= static_cast<double>(said) * part;
}

Judgement judgeUnused(const Finding &finding, const GuardedSum &sum) {
  const std::string seen = fmt::format("{} in {} of {} blocks were never touched", bytesText(sum.never_touched_bytes),
                                       sum.blocks - sum.touched_blocks, sum.blocks);
  return {isEnough(sum.never_touched_bytes, finding.bytes, kMostOf) ? Outcome::Proved : Outcome::Refuted, seen};
}

Judgement judgeRest(const Finding &finding, const GuardedSum &sum) {
  const std::string seen =
      fmt::format("{} of {} were never touched", bytesText(sum.untouched_bytes), bytesText(sum.bytes));
  if (isEnough(sum.untouched_bytes, finding.bytes, kMostOf))
    return {Outcome::Proved, seen};
  if (isEnough(sum.untouched_bytes + sum.doubtful_bytes, finding.bytes, kMostOf))
    return {Outcome::Unknown, fmt::format("{}, and it is not known whether {} in touched parts were touched", seen,
                                          bytesText(sum.doubtful_bytes))};
  return {Outcome::Refuted, seen};
}

Judgement judgeWait(const Finding &finding, const GuardedSum &sum) {
  const std::string seen =
      fmt::format("the longest wait for the first touch was {}", durationText(sum.longest_wait_ns));
  return {isEnough(sum.longest_wait_ns, evidenceOf<uint64_t>(finding, "idle_ns"), kHalf) ? Outcome::Proved
                                                                                         : Outcome::Refuted,
          seen};
}

struct Kind {
  std::string_view name;
  Judgement (*judge)(const Finding &, const GuardedSum &);
};
constexpr std::array<Kind, 4> kKinds{{{finding_kinds::kUnused.name, judgeUnused},
                                      {finding_kinds::kOverallocated.name, judgeRest},
                                      {finding_kinds::kCapacity.name, judgeRest},
                                      {finding_kinds::kEarlyAllocation.name, judgeWait}}};

const Kind *kindOf(const Finding &finding) {
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind &k) { return k.name == finding.kind; });
  return kind == kKinds.end() ? nullptr : &*kind;
}

} // namespace

const char *nameOf(Outcome outcome) {
  constexpr std::array<const char *, 3> kNames{"proved", "refuted", "unknown"};
  return kNames[static_cast<size_t>(outcome)];
}

GuardedSum sumOf(const std::vector<std::shared_ptr<GuardedBlock>> &blocks, uint64_t end_ns, uint64_t page_bytes) {
  GuardedSum sum;
  for (const auto &block : blocks) {
    sum.blocks += 1;
    sum.bytes += block->bytes;
    sum.untouched_bytes += block->untouchedBytes();
    sum.doubtful_bytes += block->doubtfulBytes(page_bytes);
    sum.unwatched |= block->unwatched;
    sum.touched_blocks += block->isTouched() ? 1 : 0;
    if (!block->isTouched())
      sum.never_touched_bytes += block->bytes;
    const uint64_t until_ns = block->isTouched()    ? block->first_touch_ns
                              : block->gone_ns != 0 ? block->gone_ns
                                                    : end_ns;
    sum.longest_wait_ns = std::max(sum.longest_wait_ns, until_ns - block->born_ns);
  }
  return sum;
}

std::string whyNotVerifiable(const Finding &finding) {
  if (isOf(finding, finding_kinds::kTrampled))
    return finding.heap == abi::Heap::Host
               ? ""
               : fmt::format("msleaks cannot see who writes to memory of the heap '{}'", abi::nameOf(finding.heap));
  if (kindOf(finding) == nullptr)
    return "verify can check only findings of the kinds unused, overallocated, capacity, early-allocation and trampled";
  if (finding.heap != abi::Heap::Host && finding.heap != abi::Heap::Mapping)
    return fmt::format("memory of the heap '{}' cannot be guarded, only host blocks and mappings",
                       abi::nameOf(finding.heap));
  if (const auto bytes = evidenceOf<uint64_t>(finding, "block_bytes"); bytes > 0 && bytes < kLeastGuardedBytes)
    return fmt::format("blocks of less than {} cannot be guarded", bytesText(kLeastGuardedBytes));
  return {};
}

Judgement judge(const Finding &finding, const GuardedSum &sum) {
  if (sum.blocks == 0)
    return {Outcome::Unknown, sum.refused ? kRefused : "no block was allocated there"};
  Judgement judgement = kindOf(finding)->judge(finding, sum);
  if (sum.refused && judgement.outcome == Outcome::Refuted)
    return {Outcome::Unknown, kRefused};
  if (sum.unwatched && judgement.outcome == Outcome::Proved)
    return {Outcome::Unknown,
            "msleaks could not see every touch of the blocks: a system call got the blocks in arguments "
            "that msleaks cannot decode, or a part of a mapping was changed"};
  return judgement;
}

} // namespace msleaks::analysis::inline second_run
