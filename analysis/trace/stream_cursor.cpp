#include "analysis/trace/stream_cursor.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace msleaks::analysis::inline trace {

// Small enough that the blocks of eight streams stay in a core's second-level cache.
constexpr size_t kBlockEvents = 256;

std::unique_ptr<OpenChunk> ChunkOpener::open(const ChunkPlace &place) {
  std::unique_ptr<OpenChunk> chunk;
  if (spare_.empty()) {
    chunk = std::make_unique<OpenChunk>();
  } else {
    chunk = std::move(spare_.back());
    spare_.pop_back();
  }
  chunk->begin = chunk->end = 0;
  const Result<void> read = reader_.read(place.header, place.offset, chunk->payload);
  if (read && chunk->decoder.open(chunk->payload, place.header.events))
    return chunk;
  damage_->add(place, read ? "its columns make no sense" : read.error().message);
  giveBack(std::move(chunk));
  return nullptr;
}

bool StreamCursor::add(const EventChunk &chunk, uint64_t not_before_ns) {
  const bool late = std::max(chunk.place.header.first_time_ns, floor_) < not_before_ns;
  floor_ = std::max(floor_, not_before_ns);
  const uint64_t first_time_ns = std::max(chunk.place.header.first_time_ns, added_until_ns_);
  added_until_ns_ = std::max(chunk.place.header.last_time_ns, added_until_ns_);
  if (std::max(added_until_ns_, not_before_ns) < window_.begin_ns || window_.endsBefore(first_time_ns))
    return late;
  const bool rested = done();
  if (2 * next_ > chunks_.size()) { // removes used chunks when they are more than the unused ones
    chunks_.erase(chunks_.begin(), chunks_.begin() + static_cast<ptrdiff_t>(next_));
    next_ = 0;
  }
  chunks_.push_back({chunk, first_time_ns});
  if (rested)
    advance();
  return late;
}

// Computes when the next chunk is due.
void StreamCursor::advance() {
  due_ = std::max({chunks_[next_].first_time_ns, floor_, window_.begin_ns});
  floor_ = std::max(floor_, chunks_[next_].first_time_ns);
}

void StreamCursor::goOn() {
  if (++next_ < chunks_.size())
    return advance();
  next_ = 0;
  std::vector<PlannedChunk>().swap(chunks_); // frees the memory, since most threads have ended when this happens
}

std::span<const StreamEvent> StreamCursor::ready() const {
  if (!open_)
    return {};
  return std::span<const StreamEvent>(open_->block).subspan(open_->begin, open_->end - open_->begin);
}

void StreamCursor::take(size_t count, ChunkOpener &opener) {
  open_->begin += count;
  if (open_->begin == open_->end && !fillBlock())
    close(opener);
}

void StreamCursor::load(ChunkOpener &opener) {
  const EventChunk &chunk = chunks_[next_].chunk;
  skip_slots_ = chunk.skip_slots;
  open_ = opener.open(chunk.place);
  if (!open_)
    goOn();
  else if (!fillBlock())
    close(opener);
}

void StreamCursor::close(ChunkOpener &opener) {
  const ChunkPlace &place = chunks_[next_].chunk.place;
  if (open_->decoder.left() > 0 && !window_.endsBefore(floor_))
    opener.note(place, fmt::format("{} of its events cannot be decoded", open_->decoder.left()));
  if (open_->decoder.unknownEvents() > 0)
    opener.note(place, fmt::format("{} of its events are of a kind that this version does not know",
                                   open_->decoder.unknownEvents()));
  opener.giveBack(std::move(open_));
  goOn();
}

// Decodes the next event, without the events that an earlier chunk has stored.
bool StreamCursor::decodeOne(StreamEvent &event) {
  event.process = process_;
  event.stream = stream_;
  while (open_->decoder.next(event.event)) {
    if (skip_slots_ == 0)
      return true;
    skip_slots_ -= std::min(skip_slots_, abi::slotsOf(event.event.header().kind));
  }
  return false;
}

// Sorts events by time. Events of the same time keep their order.
static void sortByTime(std::span<StreamEvent> events) {
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < events.size(); ++i)
    order.emplace_back(events[i].event.header().time, i);
  std::sort(order.begin(), order.end());
  const std::vector<StreamEvent> unsorted(events.begin(), events.end());
  for (size_t i = 0; i < events.size(); ++i)
    events[i] = unsorted[order[i].second];
}

// Decodes up to `most` events, and sorts them if the writer has not.
void StreamCursor::decodeSorted(size_t most) {
  std::vector<StreamEvent> &block = open_->block;
  if (block.size() < most)
    block.resize(most);
  open_->begin = open_->end = 0;
  while (open_->end < most && decodeOne(block[open_->end]))
    ++open_->end;
  if (!open_->decoder.sorted())
    sortByTime(std::span(block).first(open_->end));
}

// Decodes until there are events in the window, and returns true. Returns false if the chunk has no more such events.
bool StreamCursor::fillBlock() {
  while (open_->decoder.left() > 0) {
    const size_t most = open_->decoder.sorted() ? kBlockEvents : open_->decoder.left();
    decodeSorted(most);
    if (open_->end == 0)
      return false;
    for (size_t i = 0; i < open_->end; ++i) {
      uint64_t &time = open_->block[i].event.header().time;
      floor_ = time = std::max(time, floor_);
    }
    const auto inTime = [&](uint64_t time_ns) {
      return [time_ns](const StreamEvent &event) { return event.event.header().time < time_ns; };
    };
    const auto first = open_->block.begin(), last = first + static_cast<ptrdiff_t>(open_->end);
    open_->begin = static_cast<size_t>(std::partition_point(first, last, inTime(window_.begin_ns)) - first);
    if (window_.endsBefore(floor_))
      open_->end = static_cast<size_t>(std::partition_point(first, last, inTime(window_.end_ns)) - first);
    if (open_->begin < open_->end)
      return true;
    if (window_.endsBefore(floor_))
      return false;
  }
  return false;
}

} // namespace msleaks::analysis::inline trace
