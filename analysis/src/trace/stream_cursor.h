// Walks through one stream's events. Only while a chunk's events are due is the chunk in memory.
#pragma once

#include "msleaks/analysis/trace_reader.h"
#include "trace/event_decoder.h"
#include "trace/stream_plan.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::trace {

// A chunk in memory. Kept for the next one when it is done: its buffers have the right size by then.
struct OpenChunk {
  std::vector<uint8_t> payload;
  EventDecoder decoder;
  std::vector<StreamEvent> block; // events decoded and not yet given: [begin, end)
  size_t begin = 0, end = 0;
};

struct TimeWindow {
  uint64_t begin_ns = 0, end_ns = UINT64_MAX;
  bool endsBefore(uint64_t time_ns) const { return end_ns != UINT64_MAX && time_ns >= end_ns; }
};

// What the cursors of a merge share.
class ChunkOpener {
public:
  using Damage = std::function<void(const ChunkPlace &, const std::string &)>;
  ChunkOpener(const InputFile &file, Damage damage) : reader_(file), damage_(std::move(damage)) {}

  // The chunk, ready to be decoded; null, and the damage noted, when its payload cannot be read.
  std::unique_ptr<OpenChunk> open(const ChunkPlace &place);
  void giveBack(std::unique_ptr<OpenChunk> chunk) { spare_.push_back(std::move(chunk)); }
  void note(const ChunkPlace &place, const std::string &what) { damage_(place, what); }

private:
  PayloadReader reader_;
  Damage damage_;
  std::vector<std::unique_ptr<OpenChunk>> spare_;
};

class StreamCursor {
public:
  StreamCursor(const StreamPlan &plan, const TimeWindow &window);

  // No event is due before this time. Before the chunk is open this is what the chunk's header says.
  uint64_t time() const { return open_ ? open_->block[open_->begin].event.header().time : due_; }
  bool done() const { return !open_ && next_ == plan_->chunks.size(); }
  // Events that are ready; none means: call load().
  std::span<const StreamEvent> ready() const;
  void take(size_t count, ChunkOpener &opener);
  // Opens the chunk that is due. Afterwards there are events ready, or the time has moved on, or all is done.
  void load(ChunkOpener &opener);

private:
  void advance();
  bool fillBlock();
  bool decodeOne(StreamEvent &event);
  void decodeSorted(size_t most);
  void close(ChunkOpener &opener);

  const StreamPlan *plan_;
  TimeWindow window_;
  size_t next_ = 0; // chunk that is open, or due
  uint64_t due_ = 0;
  uint64_t floor_ = 0; // time of the last event
  uint32_t skip_slots_ = 0;
  std::unique_ptr<OpenChunk> open_;
};

} // namespace msleaks::analysis::trace
