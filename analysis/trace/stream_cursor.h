// Walks through the events of one stream. Keeps a chunk in memory only while its events are due.
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

// A chunk in memory. After its last event it is reused for another chunk, because its buffers then have the right size.
struct OpenChunk {
  std::vector<uint8_t> payload;
  EventDecoder decoder;
  std::vector<StreamEvent> block; // decoded events; [begin, end) are not yet returned
  size_t begin = 0, end = 0;
};

// Opens chunks for all cursors of a merge, which share it.
class ChunkOpener {
public:
  ChunkOpener(const InputFile &file, DamageNotes &damage) : reader_(file), damage_(&damage) {}

  // Returns the chunk, ready to be decoded. If its payload cannot be read, notes the damage and returns null.
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

  // Adds the next chunk of the stream, unless it does not overlap the window. Raises earlier times of its events to
  // `not_before_ns`. Returns whether the chunk's first time was earlier.
  bool add(const EventChunk &chunk, uint64_t not_before_ns);
  // No event is due before this time. While the chunk is not open, the time comes from its header.
  uint64_t time() const { return open_ ? open_->block[open_->begin].event.header().time : due_; }
  // Whether no chunk is left. Another one may be added.
  bool done() const { return !open_ && next_ == chunks_.size(); }
  // Whether a new cursor would return the same events from the stream's next chunk. This is so if all times that this
  // cursor knows are before `now_ns`.
  bool isForgettable(uint64_t now_ns) const { return done() && floor_ < now_ns && added_until_ns_ < now_ns; }
  // Returns the events that are ready. If there is none, call load().
  std::span<const StreamEvent> ready() const;
  void take(size_t count, ChunkOpener &opener);
  // Opens the chunk that is due. Afterwards events are ready, or the next chunk is due, or the cursor is done.
  void load(ChunkOpener &opener);

private:
  struct PlannedChunk {
    EventChunk chunk;
    uint64_t first_time_ns; // not before the chunk before it ends: after a new fit of the clock, a chunk may begin some
                            // ns too early
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
  size_t next_ = 0;             // the chunk that is open or due
  uint64_t added_until_ns_ = 0; // the latest time in the chunks that were added
  uint64_t due_ = 0;
  uint64_t floor_ = 0; // the latest time so far: no later event gets an earlier time
  uint32_t skip_slots_ = 0;
  std::unique_ptr<OpenChunk> open_;
};

} // namespace msleaks::analysis::inline trace
