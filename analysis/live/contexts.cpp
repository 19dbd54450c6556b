#include "analysis/live/contexts.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace msleaks::analysis::inline live {

LabelId Contexts::labelOf(uint32_t process, uint64_t number) const {
  return labels_ ? labels_->find(process, number) : LabelId{static_cast<uint32_t>(number)};
}

void Contexts::apply(const StreamEvent &event) {
  const auto threadOf = [&]() -> Thread & { return threads_[keyOfThread(event.process, event.stream)]; };
  switch (event.event.header().kind) {
  case abi::EventKind::OwnerPush: {
    Thread &thread = threadOf();
    thread.owners.push_back(labelOf(event.process, event.event.as<abi::OwnerPushEvent>().label));
    thread.now.owner = thread.owners.back();
    return;
  }
  case abi::EventKind::OwnerPop:
    return popOwner(keyOfThread(event.process, event.stream),
                    labelOf(event.process, event.event.as<abi::OwnerPopEvent>().label));
  case abi::EventKind::RangeBegin: {
    const auto begin = event.event.as<abi::RangeBeginEvent>();
    Thread &thread = threadOf();
    thread.ranges.push_back({labelOf(event.process, begin.label), begin.id});
    thread.now.phase = thread.ranges.back().label;
    return;
  }
  case abi::EventKind::RangeEnd:
    return endRange(event.process, event.stream, event.event.as<abi::RangeEndEvent>().id);
  default:
    return;
  }
}

void Contexts::dropIfClosed(uint64_t key, const Thread &thread) {
  if (thread.owners.empty() && thread.ranges.empty() && !thread.now.forward.known())
    threads_.erase(key);
}

void Contexts::evaluate(uint32_t process, uint32_t stream, SiteId forward) {
  const uint64_t key = keyOfThread(process, stream);
  Thread &thread = threads_[key];
  thread.now.forward = forward;
  dropIfClosed(key, thread);
}

// Removes the owner and all owners that were pushed after it. An owner from before the recording removes nothing.
void Contexts::popOwner(uint64_t key, LabelId label) {
  Thread *thread = threads_.find(key);
  if (!thread)
    return;
  std::vector<LabelId> &owners = thread->owners;
  auto at = owners.end();
  if (!owners.empty() && !label.known())
    --at;
  for (auto owner = owners.begin(); label.known() && owner != owners.end(); ++owner)
    if (*owner == label)
      at = owner;
  owners.erase(at, owners.end());
  thread->now.owner = owners.empty() ? LabelId{} : owners.back();
  dropIfClosed(key, *thread);
}

// A range with an id may have begun in another thread. If several threads have such a range, ends it in the first one.
void Contexts::endRange(uint32_t process, uint32_t stream, uint64_t id) {
  const auto has = [&](const Thread &thread) {
    return std::any_of(thread.ranges.begin(), thread.ranges.end(), [&](const Range &range) { return range.id == id; });
  };
  const uint64_t own = keyOfThread(process, stream);
  if (Thread *thread = threads_.find(own); thread && has(*thread))
    return endLast(own, *thread, id);
  if (id == 0)
    return;
  std::optional<uint64_t> first;
  threads_.forEach([&](uint64_t key, const Thread &thread) {
    if (key >> 32 == process && (!first || key < *first) && has(thread))
      first = key;
  });
  if (first)
    endLast(*first, *threads_.find(*first), id);
}

void Contexts::endLast(uint64_t key, Thread &thread, uint64_t id) {
  const auto last =
      std::find_if(thread.ranges.rbegin(), thread.ranges.rend(), [&](const Range &range) { return range.id == id; });
  thread.ranges.erase(std::next(last).base());
  thread.now.phase = thread.ranges.empty() ? LabelId{} : thread.ranges.back().label;
  dropIfClosed(key, thread);
}

void Contexts::restore(uint64_t key, Thread thread) {
  thread.now.owner = thread.owners.empty() ? LabelId{} : thread.owners.back();
  thread.now.phase = thread.ranges.empty() ? LabelId{} : thread.ranges.back().label;
  threads_[key] = std::move(thread);
}

void Contexts::endProcess(uint32_t process) {
  threads_.eraseIf([&](uint64_t key) { return key >> 32 == process; });
}

} // namespace msleaks::analysis::inline live
