// Merges all streams of a trace by time.
#pragma once

#include "analysis/trace/event_source.h"
#include "analysis/trace/stream_cursor.h"

#include <optional>
#include <unordered_map>

namespace msleaks::analysis::inline trace {

class EventMerge {
public:
  EventMerge(const TimeWindow &window, ChunkOpener &opener) : window_(window), opener_(&opener) {}

  // Adds the next chunk of a stream. If an event in it is earlier than the events already returned, its time is raised.
  void add(const EventChunk &chunk);
  // Returns the next events of one stream, in order of time; equal times are in order of process and stream. With a
  // limit, returns only events before `limit_ns`, since a chunk that is added later may precede the others. The result
  // is empty if no such event is there. It is valid until the next call of a function.
  std::span<const StreamEvent> next(std::optional<uint64_t> limit_ns);
  // The number of added chunks that came too late, so that times of events were raised.
  uint64_t lateChunks() const { return late_chunks_; }

private:
  // The time of a stream's next event. Streams with equal times are in order of their key.
  struct Due {
    uint64_t time_ns;
    uint64_t key; // process and stream
    StreamCursor *cursor;
    bool operator<(const Due &other) const {
      return time_ns != other.time_ns ? time_ns < other.time_ns : key < other.key;
    }
    bool operator>(const Due &other) const { return other < *this; }
  };
  static constexpr Due kNever{UINT64_MAX, UINT64_MAX, nullptr};
  StreamCursor &cursorOf(const ChunkHeader &);
  void dropEnded();
  void takeGiven();
  Due second() const;
  void settleFirst();
  void postponeFirst(uint64_t time_ns);

  TimeWindow window_;
  ChunkOpener *opener_;
  static constexpr size_t kKeptCursors = 1024;
  std::unordered_map<uint64_t, std::unique_ptr<StreamCursor>> cursors_;
  size_t most_cursors_ = kKeptCursors; // at this number, looks for cursors to remove
  std::vector<Due> heap_;              // a binary heap: the stream that is due first is at the front
  size_t given_ = 0;                   // number of events that the last next() returned, from the first stream
  uint64_t now_ns_ = 0;                // time of the last event that was returned
  uint64_t late_chunks_ = 0;
};

// The events of a window of time, merged. Reads each leaf when its events are due.
class LeafCursor final : public EventSource {
public:
  LeafCursor(const EventLeaves &leaves, const InputFile &file, DamageNotes &damage, const TimeWindow &window)
      : leaves_(leaves), file_(file), damage_(damage), window_(window), opener_(file, damage), merge_(window, opener_) {
  }
  LeafCursor(const LeafCursor &) = delete;

  std::span<const StreamEvent> next() override;

private:
  bool readLeaf();

  const EventLeaves &leaves_;
  const InputFile &file_;
  DamageNotes &damage_;
  TimeWindow window_;
  ChunkOpener opener_;
  EventMerge merge_;
  size_t leaf_ = 0; // the next leaf
  std::vector<EventChunk> chunks_;
};

} // namespace msleaks::analysis::inline trace
