#include "analysis/stream/selection.h"

#include "analysis/stream/event_window.h"

#include <algorithm>
#include <tuple>

namespace msleaks::analysis::inline stream {
const Moment *Gate::next() const {
  const bool grows = state_ == State::Open && window_.born_until;
  const std::optional<Moment> &moment = state_ == State::Before ? window_.from
                                        : grows                 ? window_.born_until
                                                                : window_.to;
  return state_ == State::Behind || !moment ? nullptr : &*moment;
}

Gate::State Gate::stateBehindThis() const {
  if (state_ == State::Before)
    return State::Open;
  return state_ == State::Open && window_.born_until ? State::Grown : State::Behind;
}

uint64_t Gate::nextTime() const {
  const Moment *moment = next();
  const uint64_t *time_ns = moment ? std::get_if<uint64_t>(moment) : nullptr;
  return time_ns ? *time_ns : UINT64_MAX;
}

void Gate::pass(uint64_t time_ns, LiveSet &live) {
  if (time_ns >= nextTime())
    turn(nextTime(), live);
}

void Gate::look(const StreamEvent &event, const Labels &labels, LiveSet &live) {
  if (const Moment *moment = next(); moment && isAt(*moment, event, labels))
    turn(event.event.header().time, live);
}

void Gate::turn(uint64_t time_ns, LiveSet &live) {
  state_ = stateBehindThis();
  if (state_ == State::Open)
    open(time_ns, live);
  else
    (state_ == State::Grown ? grown_ns_ : closed_ns_) = time_ns;
  if (window_.is_moment) {
    state_ = State::Behind;
    closed_ns_ = time_ns;
  }
}

void Gate::open(uint64_t time_ns, LiveSet &live) {
  opened_ns_ = time_ns;
  if (window_.born_until)
    return;
  std::vector<Block> parts; // may be parts of pools
  live.forEach([&](const Block &block) {
    onAlloc(block, AllocCause::WasThere, time_ns);
    if (block.heap == abi::Heap::Pool)
      parts.push_back(block);
  });
  std::sort(parts.begin(), parts.end(), [](const Block &a, const Block &b) {
    return std::tie(a.process, a.address) < std::tie(b.process, b.address);
  });
  for (const Block &part : parts)
    if (const Block *whole = live.wholeOf(part))
      onPart(part, *whole, time_ns);
}

void Gate::onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) {
  if (!isInWindow() || !counts(block))
    return;
  for (BlockObserver *observer : behind_)
    if (observer->wants(block.heap))
      observer->onAlloc(block, cause, time_ns);
}

void Gate::onPart(const Block &part, const Block &whole, uint64_t time_ns) {
  if (!isInWindow() || !counts(part) || !counts(whole))
    return;
  for (BlockObserver *observer : behind_)
    observer->onPart(part, whole, time_ns);
}

void Gate::onFree(const Block &block, FreeCause cause, uint64_t time_ns) {
  if (state_ == State::Before || !counts(block))
    return;
  const bool outlives = window_.born_until && state_ == State::Behind && cause == FreeCause::StillAlive;
  for (BlockObserver *observer : behind_)
    if (observer->wants(block.heap))
      observer->onFree(block, outlives ? FreeCause::ProcessExited : cause, time_ns);
}

void Gate::onRetarget(const Block &block, const Block &before, uint64_t time_ns) {
  if (state_ == State::Before || !counts(block))
    return;
  for (BlockObserver *observer : behind_)
    if (observer->wants(block.heap))
      observer->onRetarget(block, before, time_ns);
}

void Gate::onUse(const Block &block, const Use &use) {
  if (!isInWindow() || !counts(block))
    return;
  for (BlockObserver *observer : behind_)
    observer->onUse(block, use);
}

void Gate::onCopyToDevice(const Block &source, const Block &destination, const CopyToDevice &copy) {
  if (!isInWindow() || !counts(source) || !counts(destination))
    return;
  for (BlockObserver *observer : behind_)
    observer->onCopyToDevice(source, destination, copy);
}

void Gate::onPages(const Block &block, const TouchedPages &pages) {
  if (!isInWindow() || !counts(block))
    return;
  for (BlockObserver *observer : behind_)
    observer->onPages(block, pages);
}

} // namespace msleaks::analysis::inline stream
