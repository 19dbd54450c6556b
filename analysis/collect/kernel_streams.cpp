#include "analysis/collect/kernel_streams.h"

#include "analysis/base/machine.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace msleaks::analysis::inline collect {
namespace {

constexpr size_t kDueSlotsOfKernel = 8192;
constexpr uint64_t kDueAgeOfKernelNs = 500'000'000;

} // namespace

KernelStreams::KernelStreams(KernelEvents &source) : source_(source), streams_(source.streams()) {}

void KernelStreams::read(size_t number, uint64_t now_ns) {
  Stream &stream = streams_[number];
  const size_t before = stream.waiting.size();
  source_.take(number, stream.waiting);
  if (stream.waiting.size() == before)
    return;
  if (stream.waiting_since_ns == 0)
    stream.waiting_since_ns = now_ns;
  for (size_t at = before; at < stream.waiting.size(); ++at)
    if (!abi::isContinuation(stream.waiting[at]))
      stream.waiting_since_ns = std::min(stream.waiting_since_ns, stream.waiting[at].header.time);
}

void KernelStreams::read() {
  const uint64_t now_ns = readMonotonicNs();
  for (size_t number = 0; number < streams_.size(); ++number)
    read(number, now_ns);
}

Result<uint64_t> KernelStreams::store(size_t number, TraceWriter &writer) {
  Stream &stream = streams_[number];
  if (stream.waiting.empty())
    return 0;
  const auto events = static_cast<uint64_t>(
      std::ranges::count_if(stream.waiting, [](const abi::Slot &slot) { return !abi::isContinuation(slot); }));
  MSL_TRY(
      writer.events({kSessionProcess, kFirstStream + static_cast<uint32_t>(number), stream.position, stream.waiting}));
  stream.position += stream.waiting.size();
  stream.events += events;
  stream.waiting.clear();
  stream.waiting_since_ns = 0;
  return events;
}

Result<uint64_t> KernelStreams::drain(TraceWriter &writer, bool everything, uint64_t now_ns) {
  uint64_t stored = 0;
  for (size_t number = 0; number < streams_.size(); ++number) {
    read(number, now_ns);
    const Stream &stream = streams_[number];
    const bool is_old = stream.waiting_since_ns != 0 && stream.waiting_since_ns + kDueAgeOfKernelNs <= now_ns;
    if (everything || is_old || stream.waiting.size() >= kDueSlotsOfKernel)
      stored += MSL_TRY(store(number, writer));
  }
  return stored;
}

Result<void> KernelStreams::finish(TraceWriter &writer) {
  source_.stop();
  // A source may return only a part of what is waiting.
  while (MSL_TRY(drain(writer, true, readMonotonicNs())) != 0)
    continue;
  for (size_t number = 0; number < streams_.size(); ++number)
    MSL_TRY(writer.streamAccount({kSessionProcess, kFirstStream + static_cast<uint32_t>(number), 0,
                                  fmt::format("kernel {}", source_.nameOf(number)), streams_[number].events, 0, 0}));
  return {};
}

uint64_t KernelStreams::completeUntil(uint64_t now_ns) const {
  uint64_t until_ns = now_ns;
  for (const Stream &stream : streams_)
    if (stream.waiting_since_ns != 0)
      until_ns = std::min(until_ns, stream.waiting_since_ns);
  return until_ns;
}

uint64_t KernelStreams::stored() const {
  uint64_t sum = 0;
  for (const Stream &stream : streams_)
    sum += stream.events;
  return sum;
}

} // namespace msleaks::analysis::inline collect
