#include "analysis/reach/sampled_blocks.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace msleaks::analysis::inline reach {
namespace {

// Returns a number that is the same for the same block, and otherwise like a random number.
uint64_t numberOf(uint64_t address, uint64_t time_ns) { return (address ^ time_ns) * 0x9e3779b97f4a7c15 >> 32; }

bool isZero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
}

} // namespace

// The distances between two candidates differ. So if a program allocates at several places in turn, each place has
// candidates.
void SampledBlocks::addCandidate(const abi::AllocEvent &alloc) {
  left_bytes_ = static_cast<int64_t>(numberOf(alloc.address, alloc.header.time) % (2 * kBytesOfCandidate));
  Sample &candidate = candidateAt(alloc.address);
  candidate_count_ += candidate.address == 0;
  candidate = {alloc.address, alloc.size, alloc.header.time, 0, 0};
}

void SampledBlocks::remove(uint64_t address) {
  if (address == 0)
    return;
  if (Sample &candidate = candidateAt(address); candidate.address == address) {
    candidate = {};
    --candidate_count_;
  }
  if (Sample &sample = sampleAt(address); sample.address == address) {
    sample = {};
    --sample_count_;
    told_.removeSample(address);
  }
}

// If a block has the entry of a candidate, the candidate replaces it with the chance that makes all candidates until
// now equally likely.
void SampledBlocks::takeCandidates() {
  for (Sample &candidate : candidates_) {
    const Sample taken = std::exchange(candidate, {});
    if (taken.address == 0)
      continue;
    --candidate_count_;
    ++seen_;
    Sample &sample = sampleAt(taken.address);
    if (sample.address != 0 && numberOf(taken.address, taken.time_ns) % seen_ >= samples_.size())
      continue;
    sample_count_ += sample.address == 0;
    sample = taken;
    told_.addSample(taken.address, taken.size, taken.time_ns);
  }
}

// A page that is absent is not read, because reading would map it. False: the block cannot be read.
bool SampledBlocks::read(const ProcessMemory &memory, Sample &sample) {
  const uint64_t page = memory.pageBytes(), begin = sample.address, end = begin + sample.size;
  words_.assign((sample.size + sizeof(uint64_t) - 1) / sizeof(uint64_t), 0);
  const auto bytesOf = [&](uint64_t from, uint64_t until) {
    return std::as_writable_bytes(std::span(words_)).subspan(from - begin, until - from);
  };
  for (const ProcessMemory::Run &run : memory.touched(begin / page * page, (end + page - 1) / page * page)) {
    const uint64_t from = std::max(run.begin, begin), until = std::min(run.end, end);
    if (!memory.read(from, bytesOf(from, until)))
      return false;
    for (uint64_t at = (from + page - 1) / page * page; at + page <= until; at += page)
      if (const auto bytes = bytesOf(at, at + page); isZero(bytes))
        std::ranges::fill(bytes, std::byte{1}); // counts as needed (ZeroRange)
  }
  abi::ZeroRange zeros;
  zeros.add(words_.data(), sample.size);
  sample.needed_bytes = std::max(sample.needed_bytes, sample.size - zeros.longest_bytes);
  return true;
}

// A block is read again when it has lived twice as long.
void SampledBlocks::look(const ProcessMemory &memory, uint64_t now_ns, bool at_exit,
                         std::vector<abi::PagesEvent> &found) {
  takeCandidates();
  for (Sample &sample : samples_) {
    if (sample.address == 0 || (!at_exit && now_ns < sample.next_look_ns))
      continue;
    sample.next_look_ns = now_ns + (now_ns - std::min(now_ns, sample.time_ns));
    const uint64_t before_bytes = sample.needed_bytes;
    if (!read(memory, sample) || (!at_exit && sample.needed_bytes == before_bytes))
      continue;
    abi::PagesEvent event{};
    event.header.heap = abi::Heap::Host;
    event.address = sample.address;
    event.size = sample.size;
    event.allocated_ns = sample.time_ns;
    event.touched = sample.needed_bytes;
    event.at_exit = abi::kPagesOfSample | (at_exit ? abi::kPagesLast : 0);
    found.push_back(event);
  }
}

} // namespace msleaks::analysis::inline reach
