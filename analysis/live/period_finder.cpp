#include "analysis/live/period_finder.h"

namespace msleaks::analysis::inline live {
namespace {

// Different sets of cohorts have different sums of these hashes.
uint64_t hashOf(CohortId cohort) {
  uint64_t mixed = (cohort.index + 1) * 0x9e37'79b9'7f4a'7c15u;
  mixed ^= mixed >> 32;
  return mixed * 0xff51'afd7'ed55'8ccdu | 1;
}

} // namespace

PeriodFinder::Step PeriodFinder::onAlloc(uint32_t stream, CohortId cohort, uint64_t bytes, uint64_t time_ns) {
  Sum &sum = sumOf(stream);
  Candidate &candidate = elementAt(candidates_, cohort.index);
  ++allocations_;
  if (candidate.last_number == 0) {
    candidate.first_ns = time_ns;
    candidate.first_number = allocations_;
    candidate.first_bytes = sum.bytes;
  } else {
    const uint64_t between = sum.hashes - candidate.sum;
    // If only one place allocates in a round, all rounds are equal. This proves nothing.
    if ((between == candidate.between || between == candidate.usual) && between != hashOf(cohort)) {
      candidate.usual = between;
      ++candidate.alike;
      candidate.alike_bytes += sum.bytes - candidate.last_bytes;
    } else if ((sum.bytes - candidate.last_bytes) * candidate.alike > 2 * candidate.alike_bytes) {
      ++candidate.bursts;
    }
    candidate.between = between;
    ++candidate.rounds;
  }
  candidate.sum = sum.hashes;
  candidate.last_ns = time_ns;
  candidate.last_number = allocations_;
  candidate.last_bytes = sum.bytes;
  sum.hashes += hashOf(cohort);
  sum.bytes += bytes;
  const Step step = adopt(cohort, candidate);
  allocated_bytes_ += bytes;
  return step;
}

PeriodFinder::Step PeriodFinder::adopt(CohortId cohort, const Candidate &candidate) {
  if (cohort == anchor_) {
    ++rounds_;
    allocated_in_rounds_ = allocated_bytes_;
    freed_in_rounds_ = freed_bytes_;
    return Step::Begins;
  }
  if (!candidate.isRegular() || candidate.meanBytes() < kLeastBytes)
    return Step::GoesOn;
  if (anchor_.index != 0) {
    const Candidate &known = candidates_[anchor_.index];
    if (known.isRegular() && !known.hasPassed(kLeastRounds, allocations_) &&
        candidate.meanAllocations() < kLonger * known.meanAllocations())
      return Step::GoesOn;
  }
  anchor_ = cohort;
  rounds_ = 0;
  allocated_bytes_ = freed_bytes_ = allocated_in_rounds_ = freed_in_rounds_ = 0;
  return Step::First;
}

// A program that only collects, for example reads a document into memory, has no rounds: rounds free most of what they
// allocate. Frees after the last round do not count, since such a program may free its document at the end.
std::optional<PeriodFinder::Period> PeriodFinder::period() const {
  if (anchor_.index == 0)
    return std::nullopt;
  const Candidate &known = candidates_[anchor_.index];
  if (!known.isRegular() || known.isOver(allocations_) || freed_in_rounds_ * 2 < allocated_in_rounds_)
    return std::nullopt;
  return Period{anchor_, rounds_, known.meanNs()};
}

} // namespace msleaks::analysis::inline live
