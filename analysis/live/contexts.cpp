#include "analysis/live/contexts.h"

#include <algorithm>
#include <utility>

namespace msleaks::analysis::inline live {

LabelId Contexts::labelOf(uint32_t process, uint64_t number) const {
  return labels_ ? labels_->find(process, number) : LabelId{static_cast<uint32_t>(number)};
}

void Contexts::apply(const StreamEvent &event) {
  const auto threadOf = [&]() -> Thread & { return threads_[keyOf(event.process, event.stream)]; };
  switch (event.event.header().kind) {
  case abi::EventKind::OwnerPush: {
    Thread &thread = threadOf();
    thread.owners.push_back(labelOf(event.process, event.event.as<abi::OwnerPushEvent>().label));
    thread.now.owner = thread.owners.back();
    return;
  }
  case abi::EventKind::OwnerPop:
    return popOwner(threadOf(), labelOf(event.process, event.event.as<abi::OwnerPopEvent>().label));
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

// With all that were pushed behind it. One that was pushed before recording began ends nothing.
void Contexts::popOwner(Thread &thread, LabelId label) {
  auto at = thread.owners.end();
  if (!thread.owners.empty() && !label.known())
    --at;
  for (auto owner = thread.owners.begin(); label.known() && owner != thread.owners.end(); ++owner)
    if (*owner == label)
      at = owner;
  thread.owners.erase(at, thread.owners.end());
  thread.now.owner = thread.owners.empty() ? LabelId{} : thread.owners.back();
}

// A range with an id may have begun in another thread.
void Contexts::endRange(uint32_t process, uint32_t stream, uint64_t id) {
  const auto has = [&](const Thread &thread) {
    return std::any_of(thread.ranges.begin(), thread.ranges.end(), [&](const Range &range) { return range.id == id; });
  };
  auto of = threads_.find(keyOf(process, stream));
  if (of == threads_.end() || !has(of->second)) {
    of = threads_.end();
    for (auto at = id == 0 ? of : threads_.begin(); at != threads_.end(); ++at) // of several, the first thread's
      if (at->first >> 32 == process && has(at->second) && (of == threads_.end() || at->first < of->first))
        of = at;
  }
  if (of != threads_.end())
    endLast(of->second, id);
}

void Contexts::endLast(Thread &thread, uint64_t id) {
  const auto last =
      std::find_if(thread.ranges.rbegin(), thread.ranges.rend(), [&](const Range &range) { return range.id == id; });
  thread.ranges.erase(std::next(last).base());
  thread.now.phase = thread.ranges.empty() ? LabelId{} : thread.ranges.back().label;
}

void Contexts::restore(uint64_t key, Thread thread) {
  thread.now.owner = thread.owners.empty() ? LabelId{} : thread.owners.back();
  thread.now.phase = thread.ranges.empty() ? LabelId{} : thread.ranges.back().label;
  threads_.insert_or_assign(key, std::move(thread));
}

void Contexts::endProcess(uint32_t process) {
  std::erase_if(threads_, [&](const auto &thread) { return thread.first >> 32 == process; });
}

} // namespace msleaks::analysis::inline live
