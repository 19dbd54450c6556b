#include "analysis/collect/process_collector.h"

#include "analysis/collect/session_dir.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis::inline collect {
namespace {

// A chunk of this size compresses well, and stays in the processor's cache while it is encoded.
constexpr uint64_t kBatchSlots = 16384;
constexpr uint64_t kDueSlots = 8192;
constexpr uint64_t kDueAgeNs = 500'000'000;
constexpr size_t kMaxNotes = 20;

std::filesystem::path definitionsOf(std::filesystem::path arena) { return arena.replace_extension(kDefinitionsSuffix); }

} // namespace

ProcessStart startOf(uint32_t process, const ArenaFacts &facts) {
  return {process,       facts.pid,           facts.parent_pid, facts.attach_ns,  facts.attach_realtime_ns,
          facts.command, facts.pid_namespace, facts.exec_id,    facts.page_bytes, facts.process_birth,
          facts.ancestor};
}

ProcessCollector::ProcessCollector(uint32_t process, ArenaReader arena, abi::OnFull policy, const StoredProcess &stored)
    : process_(process), arena_(std::move(arena)), definitions_(definitionsOf(arena_.path()), stored.definition_bytes),
      policy_(policy), known_callers_(abi::kMaxCallers), looked_ns_(arena_.facts().attach_ns) {
  for (const auto &[number, before] : stored.streams) {
    Stream &stream = streams_[number];
    stream.tid = before.account.tid;
    stream.thread_name = before.account.thread_name;
    stream.until_position = before.until_position;
    stream.stored = before.events;
    stream.account = {before.account.produced, before.account.dropped, before.account.stalled_ns};
    stream.accounted = true; // true for closed rings; a ring that still exists resets this
    if (number == abi::kCollectorStream) {
      stream.account.produced = before.events;
      stream.accounted = false;
    }
  }
  stored_paths_ = std::max(stored_paths_, stored.path_count);
  for (const uint32_t caller : stored.callers)
    if (caller < known_callers_.size())
      known_callers_[caller] = true;
}

Result<void> ProcessCollector::start(TraceWriter &writer) {
  return writer.processStart(startOf(process_, arena_.facts()));
}

void ProcessCollector::note(std::string text) {
  if (notes_.size() < kMaxNotes)
    notes_.push_back(fmt::format("process {}: {}", arena_.facts().pid, std::move(text)));
}

// A larger ring becomes Live before its predecessor becomes Ended. So whoever sees the end of the smaller ring also
// finds the larger one.
void ProcessCollector::findRings() {
  for (Ring &ring : rings_)
    if (!ring.ended)
      ring.ended = arena_.ringState(ring.index) == abi::RingState::Ended;
  const size_t before = rings_.size();
  while (openNewRings())
    ;
  if (rings_.size() > before)
    std::sort(rings_.begin(), rings_.end(), [](const Ring &a, const Ring &b) {
      return std::pair(a.reader.stream(), a.reader.firstPosition()) <
             std::pair(b.reader.stream(), b.reader.firstPosition());
    });
}

// Returns whether one of the new rings has ended.
bool ProcessCollector::openNewRings() {
  const uint32_t count = arena_.ringCount();
  if (open_.size() < count)
    open_.resize(count);
  bool ended = false;
  for (uint32_t index = 0; index < count; ++index) {
    if (open_[index])
      continue;
    const abi::RingState state = arena_.ringState(index);
    if (state != abi::RingState::Live && state != abi::RingState::Ended)
      continue;
    openRing(index, state == abi::RingState::Ended);
    ended = ended || state == abi::RingState::Ended;
  }
  return ended;
}

void ProcessCollector::openRing(uint32_t index, bool ended) {
  open_[index] = true;
  auto reader = arena_.openRing(index);
  if (!reader) {
    note(fmt::format("ring {} cannot be read: {}", index, reader.error().message));
    return;
  }
  Stream &stream = streams_[reader->stream()];
  stream.tid = reader->tid();
  stream.thread_name = reader->threadName();
  if (stream.until_position > reader->position()) // stored by a collector that was killed before it could move the
                                                  // ring's tail
    reader->moveTo(std::min(stream.until_position, std::max(reader->head(), reader->position())));
  rings_.push_back({index, std::move(*reader), 0, ended, looked_ns_});
}

// Whether the preceding ring of the same stream is still open. The thread has ended that ring first, but the collector
// may have read its state earlier than the state of this one.
bool ProcessCollector::hasOpenPredecessor(const Ring &ring) const {
  const size_t at = static_cast<size_t>(&ring - rings_.data());
  return at > 0 && rings_[at - 1].reader.stream() == ring.reader.stream() && open_[rings_[at - 1].index];
}

// The events of a stream are stored in the order of their positions, so a larger ring waits for the smaller ring before
// it.
bool ProcessCollector::waitsForPredecessor(const Ring &ring) const {
  const size_t at = static_cast<size_t>(&ring - rings_.data());
  return at > 0 && rings_[at - 1].reader.stream() == ring.reader.stream() &&
         rings_[at - 1].reader.position() < ring.reader.firstPosition();
}

bool ProcessCollector::isDue(Ring &ring, uint64_t head, uint64_t now_ns) const {
  const uint64_t pending = head - ring.reader.position();
  if (pending == 0)
    return false;
  if (ring.pending_since_ns == 0)
    ring.pending_since_ns = now_ns;
  return pending >= kDueSlots || pending >= ring.reader.capacity() / 4 || now_ns - ring.pending_since_ns >= kDueAgeNs ||
         bringsBlocks(ring, head, now_ns);
}

bool ProcessCollector::shallDrain(Ring &ring, uint64_t head, Urgency urgency, uint64_t now_ns) const {
  if (head < ring.reader.position() || waitsForPredecessor(ring))
    return false;
  // The rings of a flight recorder are read only once, after the last event.
  if (!ring.ended && policy_ == abi::OnFull::Overwrite && urgency != Urgency::Snapshot)
    return false;
  return ring.ended || urgency != Urgency::Batch || isDue(ring, head, now_ns);
}

Result<uint64_t> ProcessCollector::drain(CollectOutput &output, Urgency urgency, uint64_t now_ns) {
  const uint64_t before = stored_;
  findRings();
  for (Ring &ring : rings_) {
    const uint64_t reserved = ring.reader.reserved(); // read before head: the records that had begun are then below
                                                      // head
    const uint64_t head = ring.reader.head();
    if (shallDrain(ring, head, urgency, now_ns)) {
      MSL_TRY(drainRing(ring, head, output));
      ring.pending_since_ns = 0;
    }
    if (reserved <= head && head <= ring.reader.position())
      ring.complete_until_ns = now_ns;
  }
  looked_ns_ = now_ns;
  for (Ring &ring : rings_)
    if (ring.ended && !hasOpenPredecessor(ring))
      MSL_TRY(closeRing(ring, output.writer));
  std::erase_if(rings_, [this](const Ring &ring) { return !open_[ring.index]; });
  return stored_ - before;
}

uint64_t ProcessCollector::completeUntil() const {
  uint64_t until_ns = looked_ns_;
  for (const Ring &ring : rings_)
    until_ns = std::min(until_ns, ring.complete_until_ns);
  return until_ns;
}

Result<void> ProcessCollector::drainRing(Ring &ring, uint64_t head, CollectOutput &output) {
  RingReader &reader = ring.reader;
  const bool overwrite = policy_ == abi::OnFull::Overwrite;
  if (head - reader.position() > reader.capacity()) {
    if (!overwrite)
      note(fmt::format("thread {}: its ring is damaged: {} slots published in {}", reader.tid(),
                       head - reader.position(), reader.capacity()));
    reader.moveTo(head - reader.capacity());
  }
  bool cut = reader.position() != reader.firstPosition() && overwrite; // the first slot may be in the middle of an
                                                                       // event
  output.scratch.resize(kBatchSlots);
  while (reader.position() < head) {
    const uint64_t first = reader.position();
    const std::span slots = std::span(output.scratch).first(std::min(head - first, kBatchSlots));
    reader.copy(first, slots);
    const uint64_t skipped = overwrite ? skipOverwritten(ring, slots, cut) : 0;
    auto taken = storeWhole(ring, first + skipped, slots.subspan(skipped), output);
    if (output.after_batch)
      output.after_batch();
    if (!taken)
      return tl::make_unexpected(taken.error());
    if (skipped + *taken == 0)
      return {}; // only the first half of an event is there
    reader.moveTo(first + skipped + *taken);
    streams_[reader.stream()].until_position = reader.position();
  }
  return {};
}

// Returns how many of the copied `slots` must be skipped. These are the slots that the thread may have overwritten
// meanwhile, and the rest of an event whose beginning was overwritten.
uint64_t ProcessCollector::skipOverwritten(const Ring &ring, std::span<const abi::Slot> slots, bool &cut) const {
  const RingReader &reader = ring.reader;
  const uint64_t reserved = reader.reserved();
  const uint64_t valid_from = reserved > reader.capacity() ? reserved - reader.capacity() : 0;
  uint64_t skipped =
      valid_from > reader.position() ? std::min<uint64_t>(valid_from - reader.position(), slots.size()) : 0;
  cut = cut || skipped > 0;
  while (cut && skipped < slots.size() && abi::isContinuation(slots[skipped]))
    ++skipped;
  cut = cut && skipped == slots.size();
  return skipped;
}

// Stores the whole events in `slots`. Returns the number of slots that are done.
Result<uint64_t> ProcessCollector::storeWhole(const Ring &ring, uint64_t first, std::span<abi::Slot> slots,
                                              CollectOutput &output) {
  const bool ticks = facts().clock != abi::ClockKind::Monotonic;
  size_t begin = 0, at = 0;
  uint64_t events = 0;
  const auto flush = [&]() -> Result<void> {
    auto stored = storeEvents(ring, first + begin, slots.subspan(begin, at - begin), events, output.writer);
    events = 0;
    return stored;
  };
  while (at < slots.size()) {
    abi::EventHeader &header = slots[at].header;
    const unsigned count = abi::slotsOf(header.kind);
    if (count > slots.size() - at)
      break;
    if (!abi::isWholeEvent(&slots[at], slots.size() - at)) {
      MSL_TRY(flush());
      ++damaged_slots_;
      begin = ++at;
      continue;
    }
    if (ticks)
      header.time = output.clock.toNs(header.time);
    if ((header.site & abi::kCallerSite) != 0)
      noteCaller(header.site);
    if (pages_)
      pages_->onEvent(slots[at]);
    at += count;
    ++events;
  }
  MSL_TRY(flush());
  return at;
}

Result<void> ProcessCollector::storeEvents(const Ring &ring, uint64_t first, std::span<const abi::Slot> slots,
                                           uint64_t events, TraceWriter &writer) {
  if (slots.empty())
    return {};
  MSL_TRY(storeMeaning(writer));
  MSL_TRY(writer.events({process_, ring.reader.stream(), first, slots}));
  streams_[ring.reader.stream()].stored += events;
  stored_ += events;
  const abi::Slot &last = slots[slots.size() - (abi::isContinuation(slots.back()) && slots.size() > 1 ? 2 : 1)];
  last_event_ns_ = std::max(last_event_ns_, last.header.time);
  return {};
}

// Stores definitions and callers before the events, so that a reader of the trace always knows the meaning of an event.
Result<void> ProcessCollector::storeMeaning(TraceWriter &writer) {
  const uint32_t paths = arena_.pathCount(); // read before the definitions, so that these include the images of all
                                             // these paths
  for (auto records = definitions_.readNew(); !records.empty(); records = definitions_.readNew())
    MSL_TRY(writer.definitions(process_, records));
  MSL_TRY(storePaths(paths, writer));
  if (new_callers_.empty())
    return {};
  auto stored = writer.callers(process_, new_callers_);
  new_callers_.clear();
  return stored;
}

Result<void> ProcessCollector::storePaths(uint32_t until, TraceWriter &writer) {
  while (stored_paths_ < until) {
    const auto most = std::min<uint32_t>(until - stored_paths_, TraceWriter::kMaxPathsAtOnce);
    arena_.readPaths(stored_paths_, most, new_paths_);
    if (new_paths_.empty())
      return {}; // the arena is damaged, and those events have no path
    MSL_TRY(writer.paths(process_, new_paths_));
    stored_paths_ = new_paths_.back().number + 1;
  }
  return {};
}

void ProcessCollector::noteCaller(uint32_t site) {
  const uint32_t index = site & ~abi::kCallerSite;
  if (index >= known_callers_.size() || known_callers_[index])
    return;
  if (const auto place = arena_.caller(index)) {
    known_callers_[index] = true;
    new_callers_.push_back({index, place->image, place->address});
  }
}

void ProcessCollector::takeAccount(const Ring &ring) {
  Stream &stream = streams_[ring.reader.stream()];
  if (ring.reader.firstPosition() < stream.account_from)
    return;
  const uint64_t reserved = ring.reader.reserved(), head = ring.reader.head();
  stream.account = ring.reader.account();
  stream.account_from = ring.reader.firstPosition();
  // Slots that were reserved but not published, and records that were counted but had no slot yet.
  stream.unpublished = (reserved > head ? reserved - head : 0) + ring.reader.depth();
  stream.accounted = false;
}

Result<void> ProcessCollector::closeRing(Ring &ring, TraceWriter &writer) {
  const uint32_t number = ring.reader.stream();
  const size_t next = static_cast<size_t>(&ring - rings_.data()) + 1;
  const bool goes_on = next < rings_.size() && rings_[next].reader.stream() == number;
  takeAccount(ring);
  // Done before the ring can be claimed again. The thread has ended, or continues in a ring whose account replaces this
  // one.
  if (!goes_on) {
    MSL_TRY(settle(number, writer));
    settled_ += streams_[number].account;
    streams_.erase(number); // freed at once, since a server may start a thread for each request
  } else if (!streams_[number].accounted) {
    MSL_TRY(storeAccount(number, writer));
  }
  arena_.markDrained(ring.index);
  open_[ring.index] = false;
  return {};
}

// Stores the final account. Events that were produced, but neither stored nor dropped, were cut off by a kill or
// overwritten.
Result<void> ProcessCollector::settle(uint32_t number, TraceWriter &writer) {
  Stream &stream = streams_[number];
  RingAccount &account = stream.account;
  const uint64_t explained = stream.stored + account.dropped;
  if (account.produced == explained)
    return stream.accounted ? Result<void>() : storeAccount(number, writer);
  if (account.produced < explained) {
    note(fmt::format("thread {}: inconsistent account: {} events produced, {} stored, {} dropped", stream.tid,
                     account.produced, stream.stored, account.dropped));
    account.produced = explained;
  } else {
    const uint64_t missing = account.produced - explained;
    if (policy_ != abi::OnFull::Overwrite && missing > stream.unpublished)
      note(fmt::format("thread {}: inconsistent account: {} events are missing, counted as dropped", stream.tid,
                       missing));
    account.dropped += missing;
  }
  return storeAccount(number, writer);
}

Result<void> ProcessCollector::storeAccount(uint32_t number, TraceWriter &writer) {
  Stream &stream = streams_[number];
  stream.accounted = true;
  return writer.streamAccount({process_, number, stream.tid, stream.thread_name, stream.account.produced,
                               stream.account.dropped, stream.account.stalled_ns});
}

Result<void> ProcessCollector::storeSnapshot(CollectOutput &output) {
  MSL_TRY(drain(output, Urgency::Snapshot, readMonotonicNs()));
  MSL_TRY(storeMeaning(output.writer));
  for (const Ring &ring : rings_) { // sorted: the last ring of a stream has its latest account
    takeAccount(ring);
    MSL_TRY(storeAccount(ring.reader.stream(), output.writer));
  }
  return {};
}

Result<uint64_t> ProcessCollector::finish(CollectOutput &output, uint64_t end_ns, int status, EndReason reason) {
  findRings();
  for (Ring &ring : rings_)
    ring.ended = true;
  MSL_TRY(drain(output, Urgency::Everything, end_ns));
  for (const auto &[number, stream] : streams_)
    MSL_TRY(settle(number, output.writer));
  MSL_TRY(storeMeaning(output.writer));
  if (const uint64_t unread = definitions_.unreadBytes(); unread > 0)
    note(fmt::format("{} bytes at the end of its definitions are no whole record: some of its sites are unknown",
                     unread));
  if (damaged_slots_ > 0)
    note(fmt::format("{} slots of its rings held no event and were left out", damaged_slots_));
  if (const uint32_t refused = arena_.definitionsRefused(); refused > 0)
    note(fmt::format(
        "{} images, tables of sites, labels or notes could not be written: what is instrumented there was not recorded",
        refused));
  if (pages_ && pages_->leftOut() > 0)
    note(fmt::format("the pages of {} large blocks were not looked at: there were too many", pages_->leftOut()));
  if (const uint32_t refused = arena_.pathsRefused(); refused > 0)
    note(fmt::format("{} allocations are shown without their path: there was no room for it", refused));
  if (arena_.isSandboxed())
    note("it installed a seccomp filter: from then on msleaks made no system calls in it. Events without room in its "
         "rings count as dropped, and the pointers in its memory were not read at the end");
  lost_sight_ = reason != EndReason::Replaced && arena_.hasLeft();
  if (lost_sight_)
    note("it became another program by exec, which recorded nothing: that program is static, is set-user-id, or its "
         "environment does not name the session");
  end_ns = std::max({end_ns, last_event_ns_, facts().attach_ns});
  MSL_TRY(output.writer.processEnd({process_, end_ns, status, arena_.droppedNoRing(), reason}));
  return end_ns;
}

ProcessTotals ProcessCollector::totals() const {
  RingAccount sum = settled_;
  for (const auto &[number, stream] : streams_)
    sum += stream.account;
  // The account in the last open ring of a stream is newer than the stream's stored account.
  for (size_t i = 0; i < rings_.size(); ++i) {
    const uint32_t number = rings_[i].reader.stream();
    if (i + 1 < rings_.size() && rings_[i + 1].reader.stream() == number)
      continue;
    sum -= streams_.at(number).account;
    sum += rings_[i].reader.account();
  }
  const uint64_t no_ring = arena_.droppedNoRing();
  return {.produced = sum.produced + no_ring,
          .stored = stored_,
          .dropped = sum.dropped + no_ring,
          .stalled_ns = sum.stalled_ns};
}

} // namespace msleaks::analysis::inline collect
