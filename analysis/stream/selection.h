// Which part of a recording a report is about.
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
// A time (CLOCK_MONOTONIC, ns), the beginning of the first step of a number, or the first mark of a name.
using Moment = std::variant<uint64_t, StepBegin, MarkNamed>;

// Times of [from, to). What is alive at `from` counts as allocated then; what is alive at `to` is alive at the end.
// With `born_until`: only blocks of [from, born_until) count, and those that are alive at `to` are leaked.
struct Window {
  std::optional<Moment> from, born_until, to;
  bool is_moment = false; // ends as soon as it has begun: what is alive at `from`

  static Window at(Moment moment) { return {std::move(moment), std::nullopt, std::nullopt, true}; }
  bool hasAll() const { return !from && !born_until && !to; }
};

// A thread of a process, both as the trace numbers them.
using ThreadKey = std::pair<uint32_t, uint32_t>;

// Blocks that these threads allocated, whoever frees them. An empty part selects all.
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

// Stands between the live set and the analyzers where a report is about a part of the recording only.
class Gate final : public BlockObserver {
public:
  enum class State : uint8_t {
    Before,
    Open,
    Grown, // blocks that come from now on do not count
    Behind
  };

  Gate(std::vector<BlockObserver *> behind, Window window, Selection selection)
      : behind_(std::move(behind)), window_(std::move(window)), selection_(std::move(selection)),
        state_(window_.from ? State::Before : State::Open) {}

  // The next moment that is a time; UINT64_MAX: there is none. Whoever comes by it tells pass().
  uint64_t nextTime() const;
  void pass(uint64_t time_ns, LiveSet &);
  // Before the live set takes the event in: it may be the step or the mark.
  void look(const StreamEvent &, const Labels &, LiveSet &);
  State state() const { return state_; }
  bool waitsForStepOrMark() const { return next() && !std::holds_alternative<uint64_t>(*next()); }
  // Time of the end of the window; of no use before it is Behind.
  uint64_t closedAt() const { return closed_ns_; }
  // Whether events of this thread are told.
  bool tells(const StreamEvent &event) const {
    if (const auto kind = event.event.header().kind; kind == abi::EventKind::Opened || kind == abi::EventKind::Closed)
      return isInWindow() && tellsHandle(event.event.header(), event);
    return isInWindow() && selection_.hasThread(event.process, event.stream);
  }
  bool tellsProcess(uint32_t process) const { return state_ != State::Before && selection_.hasProcess(process); }

  void onAlloc(const Block &, AllocCause, uint64_t time_ns) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void onRetarget(const Block &, const Block &before, uint64_t time_ns) override;
  void onUse(const Block &, const Use &) override;
  void onCopyToDevice(const Block &source, const Block &destination, const CopyToDevice &) override;
  void onPages(const Block &, const TouchedPages &) override;
  void onPart(const Block &, const Block &whole, uint64_t time_ns) override;

private:
  // The next moment that the gate waits for; null: nothing more.
  const Moment *next() const;
  void turn(uint64_t time_ns, LiveSet &);
  void open(uint64_t time_ns, LiveSet &);
  State stateBehindThis() const;
  // As with blocks: those that a thread made, and that came while they still count, whoever gives them back.
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
