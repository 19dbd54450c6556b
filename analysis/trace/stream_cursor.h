// Walks through one stream's events. Only while a chunk's events are due is the chunk in memory.
#pragma once

#include "analysis/trace/event_codec.h"
#include "analysis/trace/event_leaves.h"
#include "analysis/trace/event_source.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::inline trace {

// A chunk in memory. Kept for the next one when it is done: its buffers have the right size by then.
struct OpenChunk {
  std::vector<uint8_t> payload;
  EventDecoder decoder;
  std::vector<StreamEvent> block; // events decoded and not yet given: [begin, end)
  size_t begin = 0, end = 0;
};

// Data that the cursors of a merge share.
class ChunkOpener {
public:
  ChunkOpener(const InputFile &file, DamageNotes &damage) : reader_(file), damage_(&damage) {}

  // The chunk, ready to be decoded; null, and the damage noted, when its payload cannot be read.
  std::unique_ptr<OpenChunk> open(const ChunkPlace &place);
  void giveBack(std::unique_ptr<OpenChunk> chunk) { spare_.push_back(std::move(chunk)); }
  void note(const ChunkPlace &place, const std::string &what) { damage_->add(place, what); }

private:
  PayloadReader reader_;
  DamageNotes *damage_;
  std::vector<std::unique_ptr<OpenChunk>> spare_;
};

class StreamCursor {
public:
  StreamCursor(uint32_t process, uint32_t stream, const TimeWindow &window)
      : process_(process), stream_(stream), window_(window) {}

  // A chunk behind those that are there; left out when it does not reach into the window. Nothing of it comes before
  // `not_before_ns`; returns whether something of it would have.
  bool add(const EventChunk &chunk, uint64_t not_before_ns);
  // No event is due before this time. Before the chunk is open this is what the chunk's header says.
  uint64_t time() const { return open_ ? open_->block[open_->begin].event.header().time : due_; }
  // There is no chunk left, until another one is added.
  bool done() const { return !open_ && next_ == chunks_.size(); }
  // Whether a new cursor would take the stream's next chunk in the same way: all that this one has given, or has been
  // told of, lies before `now_ns`.
  bool isForgettable(uint64_t now_ns) const { return done() && floor_ < now_ns && added_until_ns_ < now_ns; }
  // Events that are ready; none means: call load().
  std::span<const StreamEvent> ready() const;
  void take(size_t count, ChunkOpener &opener);
  // Opens the chunk that is due. Afterwards there are events ready, or the time has moved on, or all is done.
  void load(ChunkOpener &opener);

private:
  struct PlannedChunk {
    EventChunk chunk;
    uint64_t first_time_ns; // lifted to where the stream already was: the clock is refitted now and then, and a chunk
                            // may begin a few ns before the last one ended
  };
  void advance();
  void goOn();
  bool fillBlock();
  bool decodeOne(StreamEvent &event);
  void decodeSorted(size_t most);
  void close(ChunkOpener &opener);

  uint32_t process_, stream_;
  TimeWindow window_;
  std::vector<PlannedChunk> chunks_;
  size_t next_ = 0;             // the chunk that is open, or due
  uint64_t added_until_ns_ = 0; // the latest time in those that were added
  uint64_t due_ = 0;
  uint64_t floor_ = 0; // time of the last event
  uint32_t skip_slots_ = 0;
  std::unique_ptr<OpenChunk> open_;
};

} // namespace msleaks::analysis::inline trace
