// The process images that a collector follows. It finds them by their arenas, replaces them after an exec, and finishes
// them when they have ended.
#include "analysis/base/program.h"
#include "analysis/collect/predecessor.h"
#include "analysis/reach/liveness.h"

#include "msleaks/abi/selected_events.h"

#include <algorithm>

namespace msleaks::analysis::inline collect {

namespace fs = std::filesystem;

void Collector::watchForEnd(Attached &process) {
  if (process.life != Life::Running || !process.watch.hasEnded())
    return;
  process.life = Life::Gone;
  // The process itself stored the time of its exit. This time is exact, even if the collector had to wait for a
  // processor.
  const uint64_t said_ns = process.collector.exitNs(), noticed_ns = process.watch.endedNs();
  process.ended_ns = said_ns != 0 ? said_ns : noticed_ns;
}

void Collector::noteEnds() {
  for (const auto &process : attached_)
    if (process) // null: it was finished just now
      watchForEnd(*process);
}

// Returns new arenas in the order in which their images attached. Each file is closed again: there may be more files
// than the collector may have open.
std::vector<fs::path> Collector::newArenas() {
  unready_ = false;
  std::vector<std::pair<uint64_t, fs::path>> found;
  for (const auto &file : session_.arenas()) {
    if (known_arenas_.contains(file.filename().string()))
      continue;
    auto arena = ArenaReader::open(file);
    if (!arena) {
      known_arenas_.insert(file.filename().string());
      summary_.notes.push_back(arena.error().message);
    } else if (*arena) {
      found.emplace_back((*arena)->facts().attach_ns, file);
    } else {
      unready_ = true; // the directory does not change when the arena becomes ready
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> files;
  for (auto &[attach_ns, file] : found)
    files.push_back(std::move(file));
  return files;
}

Result<void> Collector::attachNew() {
  for (const auto &file : newArenas()) {
    auto arena = ArenaReader::open(file);
    if (!arena || !*arena) {
      unready_ = true;
      return {}; // skip the later ones, too: their order shows which image replaced which
    }
    known_arenas_.insert(file.filename().string());
    MSL_TRY(attach(std::move(**arena)));
    // Do this at once: hundreds of short processes would otherwise fill the shared memory and the collector's table of
    // files.
    if (attached_.back()->life == Life::Gone) {
      replaceByUnattached(*attached_.back());
      MSL_TRY(finishEnded());
    }
  }
  return {};
}

// Marks `earlier` as replaced if `later` is an image that an exec made of the same process. If the pid is used again,
// as in short-lived pid namespaces, the new process attached after the end of the earlier one.
void Collector::replaceIfSame(Attached &earlier, const ArenaFacts &later) {
  if (!replaces(later, earlier.collector.facts()))
    return;
  const bool same = earlier.life == Life::Running || earlier.ended_ns >= later.attach_ns ||
                    (earlier.ended_ns == 0 && earlier.pid == later.pid);
  if (!same)
    return;
  earlier.life = Life::Replaced;
  earlier.ended_ns = later.attach_ns; // if there are several later images, only the first one gets here
}

// A process that had ended before it was found may have become one or two more images by exec. Their arenas exist by
// now.
void Collector::replaceByUnattached(Attached &process) {
  const uint32_t pid = process.collector.facts().pid;
  for (const auto &file : session_.arenas()) {
    if (pidOfArena(file) != pid || known_arenas_.contains(file.filename().string()))
      continue;
    if (const auto arena = ArenaReader::open(file); arena && *arena)
      replaceIfSame(process, (*arena)->facts());
  }
}

Result<void> Collector::attach(ArenaReader arena) {
  for (const auto &process : attached_)
    replaceIfSame(*process, arena.facts());
  const uint32_t pid = pidHere(arena.facts());
  ProcessWatch watch(pid, arena.facts().attach_ns, arena.facts().process_birth);
  const abi::OnFull policy = session_.control().flags.on_full;
  StoredSession::Entry *known = predecessor_ ? predecessor_->stored.find(arena.facts()) : nullptr;
  const uint32_t number = known ? known->start.process : next_process_++;
  if (known)
    findPositions(known->stored, number, arena, predecessor_->trace);
  ProcessCollector collector(number, std::move(arena), policy, known ? known->stored : StoredProcess{});
  attached_.push_back(std::make_unique<Attached>(Attached{std::move(collector), std::move(watch), pid, Life::Running}));
  Attached &process = *attached_.back();
  process.identity.look(pid);
  const abi::ControlPage &control = session_.control();
  const bool wants_pages = (control.selected.load() & abi::enabledBit(abi::EventKind::Pages)) != 0;
  if (control.flags.access == abi::AccessSource::Pages && wants_pages && pid != 0)
    process.collector.watchPages(pid, control.flags.access_min);
  constexpr uint32_t kBlocks = abi::enabledBit(abi::EventKind::Alloc) | abi::enabledBit(abi::EventKind::Free);
  const bool sees_blocks = (control.selected.load() & kBlocks) == kBlocks && policy != abi::OnFull::Overwrite &&
                           !abi::leavesBlocksOut(control) &&
                           process.collector.facts().ancestor.pid == 0; // a fork's child has unseen blocks
  if (control.flags.access == abi::AccessSource::Pages && wants_pages && pid != 0 && sees_blocks)
    process.collector.watchHeap(pid);
  // The frames of an earlier collector may begin elsewhere.
  watchFork(process, control.flags.access == abi::AccessSource::Pages && wants_pages && !known);
  if (known && known->end)
    process.known_status = known->end->status;
  waiter_.watchEnd(process.watch.pidfd());
  watchForEnd(process);
  return known ? Result<void>() : process.collector.start(trace_);
}

void Collector::watchFork(const Attached &child, bool wants_pages) {
  const Ancestor &from = child.collector.facts().ancestor;
  const auto parent = std::ranges::find_if(attached_, [&](const auto &other) {
    const ArenaFacts &facts = other->collector.facts();
    return from.pid != 0 && facts.pid == from.pid && facts.attach_ns == from.attach_ns;
  });
  if (parent == attached_.end() || (*parent)->pid == 0 || child.pid == 0 || (*parent)->life != Life::Running)
    return;
  sharing_.add((*parent)->collector.process(), (*parent)->pid);
  sharing_.add(child.collector.process(), child.pid);
  if (wants_pages)
    forks_.add(child.collector.process(), child.pid, (*parent)->collector.process(), (*parent)->pid);
}

bool Collector::isProgram(const Attached &process) const {
  return process.life != Life::Replaced && process.pid != 0 &&
         process.pid == program_pid_.load(std::memory_order_acquire);
}

Result<void> Collector::finishEnded() {
  for (auto &process : attached_) {
    // The end and the status of the program itself come from programEnded().
    if (process->life == Life::Running || isProgram(*process))
      continue;
    const bool gone = process->life == Life::Gone;
    int status = gone ? process->watch.waitStatus() : -1;
    if (status == -1)
      status = process->known_status;
    auto finished = finish(*process, process->ended_ns, status, gone ? EndReason::Ended : EndReason::Replaced);
    if (!finished)
      return finished;
    process.reset();
  }
  std::erase(attached_, nullptr);
  return {};
}

// Afterwards the whole process is in the trace, so its shared memory is removed.
Result<void> Collector::finish(Attached &process, uint64_t end_ns, int wait_status, EndReason reason) {
  ProcessCollector &collector = process.collector;
  MSL_TRY(collector.finish(output_, end_ns, wait_status, reason));
  resident_.forget(collector.process());
  sharing_.forget(collector.process());
  forks_.forget(collector.process());
  summary_.totals += collector.totals();
  summary_.notes.insert(summary_.notes.end(), collector.notes().begin(), collector.notes().end());
  const ArenaFacts &facts = collector.facts();
  summary_.processes.push_back({collector.process(), facts.pid, facts.command, shellStatus(wait_status),
                                process.identity.name(), process.identity.rank()});
  if (collector.lostSight())
    summary_.processes.push_back({0, facts.pid, {}, shellStatus(wait_status)});
  SessionDir::removeArena(collector.arenaFile());
  std::error_code ignored;
  if (!fs::exists(collector.arenaFile(), ignored))
    known_arenas_.erase(collector.arenaFile().filename().string());
  return {};
}

} // namespace msleaks::analysis::inline collect
