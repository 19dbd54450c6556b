#include "analysis/live/refusals.h"

#include "analysis/trace/event_source.h"

#include <algorithm>

namespace msleaks::analysis::inline live {
namespace {

// A program that tries again after a refusal does so within this time.
constexpr uint64_t kAsksAgainNs = 100'000'000;

} // namespace

void Refusals::refuse(const Asker &asker, const Refusal &refusal) {
  Sum &sum = sums_[asker];
  Waiting &waiting = waiting_[keyOfThread(asker.process, asker.stream)];
  if (waiting.count == 0 || waiting.asker != asker || refusal.time_ns > waiting.time_ns + kAsksAgainNs)
    waiting = {asker, 0, 0, sum.last};
  ++waiting.count;
  waiting.time_ns = refusal.time_ns;
  ++sum.count;
  sum.largest_bytes = std::max(sum.largest_bytes, refusal.bytes);
  sum.last = refusal;
}

void Refusals::answer(uint32_t process, uint32_t stream, SiteId site, uint64_t time_ns) {
  const uint64_t key = keyOfThread(process, stream);
  const Waiting *found = waiting_.find(key);
  if (!found)
    return;
  if (const Waiting &waiting = *found; waiting.asker.site == site && time_ns <= waiting.time_ns + kAsksAgainNs) {
    Sum &sum = sums_[waiting.asker];
    sum.answered += waiting.count;
    sum.last = waiting.before;
  }
  waiting_.erase(key);
}

} // namespace msleaks::analysis::inline live
