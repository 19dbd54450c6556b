// The part of a recording that a report is about.
#pragma once

#include "analysis/live/live_set.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace msleaks::analysis::inline stream {

struct StepBegin {
  uint64_t number; // as the program counts
};
struct MarkNamed {
  std::string label;
};
// A time (CLOCK_MONOTONIC, ns), the start of the first step with a number, or the first mark with a name.
using Moment = std::variant<uint64_t, StepBegin, MarkNamed>;

// The times [from, to). Blocks that are alive at `from` count as allocated then; blocks alive at `to` are alive at the
// end. With `born_until`, only blocks from [from, born_until) count, and those alive at `to` are leaked.
struct Window {
  std::optional<Moment> from, born_until, to;
  bool is_moment = false; // the window ends at its start: only the blocks alive at `from`

  static Window at(Moment moment) { return {std::move(moment), std::nullopt, std::nullopt, true}; }
  bool hasAll() const { return !from && !born_until && !to; }
};

// A thread of a process. Both are numbers in the trace.
using ThreadKey = std::pair<uint32_t, uint32_t>;

// Selects blocks by the thread that allocated them, whoever frees them. A member without a value selects all.
struct Selection {
  std::optional<std::set<uint32_t>> processes; // numbers in the trace
  std::optional<std::set<ThreadKey>> threads;
  std::optional<abi::Heap> heap;

  bool hasAll() const { return !processes && !threads && !heap; }
  bool hasProcess(uint32_t process) const { return !processes || processes->contains(process); }
  bool hasThread(uint32_t process, uint32_t stream) const {
    return hasProcess(process) && (!threads || threads->contains({process, stream}));
  }
  bool has(const Block &block) const {
    return hasThread(block.process, block.stream) && (!heap || *heap == block.heap);
  }
};

// If a report is about a part of the recording: passes only that part from the live set to the analyzers.
class Gate final : public BlockObserver {
public:
  enum class State : uint8_t {
    Before,
    Open,
    Grown, // blocks that are allocated from now on do not count
    Behind
  };

  Gate(std::vector<BlockObserver *> behind, Window window, Selection selection)
      : behind_(std::move(behind)), window_(std::move(window)), selection_(std::move(selection)),
        state_(window_.from ? State::Before : State::Open) {}

  // The next moment, if it is a time; else UINT64_MAX. When this time is reached, call pass().
  uint64_t nextTime() const;
  void pass(uint64_t time_ns, LiveSet &);
  // Call it before the live set processes the event, which may be the step or the mark.
  void look(const StreamEvent &, const Labels &, LiveSet &);
  State state() const { return state_; }
  bool waitsForStepOrMark() const { return next() && !std::holds_alternative<uint64_t>(*next()); }
  // The end of the window. Valid only if the state is Behind.
  uint64_t closedAt() const { return closed_ns_; }
  // Whether events of this thread are passed on.
  bool tells(const StreamEvent &event) const {
    if (const auto kind = event.event.header().kind; kind == abi::EventKind::Opened || kind == abi::EventKind::Closed)
      return isInWindow() && tellsHandle(event.event.header(), event);
    return isInWindow() && selection_.hasThread(event.process, event.stream);
  }
  bool tellsProcess(uint32_t process) const { return state_ != State::Before && selection_.hasProcess(process); }

  bool wants(abi::Heap) const override { return true; }
  void onAlloc(const Block &, AllocCause, uint64_t time_ns) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void onRetarget(const Block &, const Block &before, uint64_t time_ns) override;
  void onUse(const Block &, const Use &) override;
  void onCopyToDevice(const Block &source, const Block &destination, const CopyToDevice &) override;
  void onPages(const Block &, const TouchedPages &) override;
  void onPart(const Block &, const Block &whole, uint64_t time_ns) override;

private:
  // The next moment for which the gate waits; null = none.
  const Moment *next() const;
  void turn(uint64_t time_ns, LiveSet &);
  void open(uint64_t time_ns, LiveSet &);
  State stateBehindThis() const;
  // Handles are selected like blocks: by the thread that opened them, and by the time of opening, whoever closes them.
  bool tellsHandle(const abi::EventHeader &header, const StreamEvent &event) const {
    const bool is_made = header.kind == abi::EventKind::Opened && (header.flags & abi::kRestored) == 0;
    return is_made ? state_ == State::Open && selection_.hasThread(event.process, event.stream)
                   : selection_.hasProcess(event.process);
  }
  bool isInWindow() const { return state_ == State::Open || state_ == State::Grown; }
  bool counts(const Block &block) const {
    return selection_.has(block) && (!window_.born_until || (block.time_ns >= opened_ns_ && block.time_ns < grown_ns_));
  }

  std::vector<BlockObserver *> behind_;
  Window window_;
  Selection selection_;
  State state_;
  uint64_t opened_ns_ = 0, grown_ns_ = UINT64_MAX, closed_ns_ = 0;
};

} // namespace msleaks::analysis::inline stream
