// All streams of a trace as one, by time.
#pragma once

#include "analysis/trace/event_source.h"
#include "analysis/trace/stream_cursor.h"

#include <optional>
#include <unordered_map>

namespace msleaks::analysis::inline trace {

class EventMerge {
public:
  EventMerge(const TimeWindow &window, ChunkOpener &opener) : window_(window), opener_(&opener) {}

  // A chunk behind the others of its stream. What it has of times that are past already is lifted to now.
  void add(const EventChunk &chunk);
  // The next events, all of one stream, in order of time; equal times in order of process and stream. Only those before
  // `limit_ns`, where there is one: what is added later may come before others. Empty: there are none such now. Valid
  // until the next call of a function.
  std::span<const StreamEvent> next(std::optional<uint64_t> limit_ns);
  // Those of which events were lifted.
  uint64_t lateChunks() const { return late_chunks_; }

private:
  // When a stream's next event is due; equal times go by its number.
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
  size_t most_cursors_ = kKeptCursors; // then those are looked for that can go
  std::vector<Due> heap_;              // binary, the stream that is due first on top
  size_t given_ = 0;                   // events of the first stream that the last next() returned
  uint64_t now_ns_ = 0;                // the time of the last of them
  uint64_t late_chunks_ = 0;
};

// The events of a window of time, in their merged order: leaves are read when their events are due.
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
  size_t leaf_ = 0; // the next one
  std::vector<EventChunk> chunks_;
};

} // namespace msleaks::analysis::inline trace
