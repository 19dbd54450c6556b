#include "analysis/second_run/write_observer.h"

#include <algorithm>
#include <cerrno>

namespace msleaks::analysis::inline second_run {
namespace {

using abi::GuardCall;

// The register FS points into glibc's struct pthread. The kernel writes into this struct (rseq, the robust list, the
// thread's number), in these bytes before and after the address in FS.
constexpr uint64_t kControlBlockBefore = 512, kControlBlockBytes = 4096;

uint64_t bytesOf(std::span<const ClosablePages> pages) {
  uint64_t bytes = 0;
  for (const ClosablePages &part : pages)
    bytes += part.range.end - part.range.begin;
  return bytes;
}

// Returns the control blocks of the process's threads. For a running thread, it is the one at the begin of the last
// call.
std::vector<PageRange> controlBlocksOf(const TracedThread &thread) {
  std::vector<PageRange> blocks;
  for (auto &[tid, other] : thread.tracer->threads()) {
    const bool is_stopped = other.where == TracedThread::Where::Stopped;
    const uint64_t at = is_stopped ? other.controlBlock() : watchingOf(other).control_block;
    if (at != 0 && other.space == thread.space)
      blocks.push_back({at - kControlBlockBefore, at + kControlBlockBytes});
  }
  return blocks;
}

} // namespace

bool WriteObserver::followsCalls(TracedThread &thread) {
  return processOf(thread).is_watched || watchingOf(thread).told;
}

// A fork's child does not watch the blocks that its parent watches. Its pages may be closed even if another thread has
// opened the parent's pages since the fork.
void WriteObserver::starts(TracedThread &thread) {
  if (WatchingProcess &process = processOf(thread); thread.space->pid == thread.tid() && !process.blocks.empty()) {
    process.is_closed = true;
    setPages(thread, false);
    process.blocks.clear();
    process.is_watched = false;
  }
}

void WriteObserver::ends(TracedThread &thread, Last) { watchingOf(thread) = {}; }

void WriteObserver::called(TracedThread &thread, const SystemCall &call) {
  if (call.number == static_cast<uint64_t>(abi::kGuardCall))
    thread.answerCall(answer(thread, call));
}

// The observer acts on the report at the end of the call, since the thread can make other calls only there.
int64_t WriteObserver::answer(TracedThread &thread, const SystemCall &call) {
  const auto &arguments = call.arguments;
  const pid_t process = thread.space->pid;
  Told told{static_cast<GuardCall>(arguments[0]), arguments[1], arguments[2], {}};
  switch (told.what) {
  case GuardCall::Listen:
    loaded_ = true;
    return 1;
  case GuardCall::Made:
    if (question_.is_told || !user_.wants(thread, process, told.address))
      return 0;
    watchingOf(thread).told = std::move(told);
    return 1;
  case GuardCall::Watch:
    told.text = textAt(process, arguments[3]);
    break;
  case GuardCall::RangeBegins:
    told.text = textAt(process, arguments[1]);
    break;
  case GuardCall::Unwatch:
  case GuardCall::RangeEnds:
  case GuardCall::Step:
    break;
  default:
    return -EINVAL;
  }
  watchingOf(thread).told = std::move(told);
  return 0;
}

void WriteObserver::perform(TracedThread &thread, const Told &told) {
  std::vector<std::string> &ranges = watchingOf(thread).ranges;
  switch (told.what) {
  case GuardCall::Made:
    watch(thread, {told.address, told.address + told.bytes});
    break;
  case GuardCall::Watch:
    if (question_.is_told &&
        (question_.name ? told.text == *question_.name : told.text.empty() && told.bytes == question_.bytes))
      watch(thread, {told.address, told.address + told.bytes});
    break;
  case GuardCall::Unwatch:
    unwatch(thread, told.address);
    break;
  case GuardCall::RangeBegins:
    ranges.push_back(told.text);
    operations_ += ranges.back() == question_.operation ? 1 : 0;
    break;
  case GuardCall::RangeEnds:
    if (!ranges.empty())
      ranges.pop_back();
    break;
  case GuardCall::Step:
    processOf(thread).step = told.address;
    break;
  default:
    break;
  }
  update(thread);
}

void WriteObserver::watch(TracedThread &thread, PageRange bytes) {
  WatchingProcess &process = processOf(thread);
  if (question_.most_bytes != 0)
    bytes.end = std::min(bytes.end, bytes.begin + question_.most_bytes);
  unwatch(thread, bytes.begin);
  // After the first watch, the tracer always knows which threads are in a call.
  thread.tracer->stopOthers(thread, !process.is_watched);
  process.is_watched = true;
  const auto mapped = ProcessMemory(static_cast<uint32_t>(thread.space->pid)).maps();
  std::vector<ClosablePages> pages = pagesOf(mapped, bytes, systemPageBytes(), controlBlocksOf(thread));
  incomplete_ |= pages.empty() || pages.front().range.begin > bytes.begin || bytesOf(pages) < bytes.end - bytes.begin;
  if (pages.empty())
    return;
  setPages(thread, false); // the new block may share pages with other blocks
  process.blocks.emplace_back(bytes, std::move(pages)).keep(memoryOf(thread));
  ++blocks_;
  watched_bytes_ += bytes.end - bytes.begin;
}

void WriteObserver::unwatch(TracedThread &thread, uint64_t address) {
  WatchingProcess &process = processOf(thread);
  const auto block =
      std::ranges::find_if(process.blocks, [&](const WatchedBlock &b) { return b.bytes().begin == address; });
  if (block == process.blocks.end())
    return;
  setPages(thread, false);
  process.blocks.erase(block);
}

bool WriteObserver::isWithin(TracedThread &thread) const {
  const std::vector<std::string> &ranges = watchingOf(thread).ranges;
  if (!ranges.empty())
    return ranges.back() == question_.operation;
  return isAsked(thread);
}

bool WriteObserver::isAsked(const TracedThread &thread) const {
  return question_.operation.empty() || anyOfProcess(thread, [&](const WatchingThread &other) {
           return !other.ranges.empty() && other.ranges.back() == question_.operation;
         });
}

} // namespace msleaks::analysis::inline second_run
