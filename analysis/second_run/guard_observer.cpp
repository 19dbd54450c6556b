#include "analysis/second_run/guard_observer.h"

#include "analysis/base/machine.h"
#include "analysis/base/ranges.h"
#include "analysis/reach/process_memory.h"
#include "msleaks/abi/guarded.h"

#include <cerrno>
#include <csignal>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace msleaks::analysis::inline second_run {
namespace {

SystemCall opening(PageRange range) {
  return {SYS_mprotect, {range.begin, range.end - range.begin, PROT_READ | PROT_WRITE}};
}

// Returns how many bytes of these pages have ever been touched. The pages were new when the block was allocated.
uint64_t residentBytes(pid_t process, PageRange range) {
  uint64_t bytes = 0;
  for (const ProcessMemory::Run &run : ProcessMemory(static_cast<uint32_t>(process)).touched(range.begin, range.end))
    bytes += run.end - run.begin;
  return bytes;
}

// Whether the thread can now do at the address what has raised its signal. If it executes the instruction there, the
// pages of a block are not executable.
bool isOpen(const TracedThread &thread, uint64_t address) {
  const std::vector<MappedRange> mapped = ProcessMemory(static_cast<uint32_t>(thread.space->pid)).maps();
  const MappedRange *range = rangeAt(mapped, address);
  return range != nullptr && range->readable && range->writable &&
         (range->executable || thread.nextInstruction() != address);
}

struct GuardedProcess {
  GuardedBlocks blocks{systemPageBytes()};
};

GuardedBlocks &blocksOf(const TracedThread &thread) { return thread.space->as<GuardedProcess>().blocks; }

GuardedBlocks::ResidentBytes residentBytesOf(const TracedThread &thread) {
  return [process = thread.space->pid](PageRange range) { return residentBytes(process, range); };
}

} // namespace

// Another thread of the parent may have touched or freed blocks since the fork.
void GuardObserver::starts(TracedThread &thread) {
  if (thread.space->pid != thread.tid())
    return;
  std::vector<MappedRange> mapped;
  blocksOf(thread).follow([&](uint64_t address) {
    if (mapped.empty())
      mapped = ProcessMemory(static_cast<uint32_t>(thread.tid())).maps();
    const MappedRange *range = rangeAt(mapped, address);
    return range != nullptr && range->readable;
  });
}

void GuardObserver::ends(TracedThread &thread, Last last) {
  if (last.of_memory)
    blocksOf(thread).measureAll(residentBytesOf(thread));
}

std::optional<int> GuardObserver::signalled(TracedThread &thread, int signal) {
  const auto info = signal == SIGSEGV ? thread.signal() : std::nullopt;
  const auto address = info ? reinterpret_cast<uint64_t>(info->si_addr) : 0;
  PageRange closed;
  if (!info || info->si_code != SEGV_ACCERR || !touch(thread, address, 1, closed))
    return signal;
  // If `closed` is empty, another thread has opened this part meanwhile. Or the program itself has closed the page.
  if (closed.empty())
    return isOpen(thread, address) ? 0 : signal;
  return thread.call(opening(closed), thread.space->instruction).value_or(0) == 0 ? 0 : signal;
}

// Whether the address is in a guarded block. Sets `closed` to the pages that must be opened then.
bool GuardObserver::touch(TracedThread &thread, uint64_t address, uint64_t bytes, PageRange &closed) {
  const GuardedBlocks::Touch touch = blocksOf(thread).touch(address, bytes, readMonotonicNs());
  if (touch.first)
    user_.touched(thread, thread.space->pid, *touch.block);
  closed = touch.closed;
  return touch.block != nullptr;
}

// If a call may have guarded blocks as buffers, the thread stops again at the call's end.
void GuardObserver::called(TracedThread &thread, const SystemCall &call) {
  const bool is_ours = call.number == static_cast<uint64_t>(abi::kGuardCall);
  if (is_ours)
    thread.answerCall(answer(thread, call));
  thread.in_call = !is_ours && !blocksOf(thread).empty() && !openForCall(thread, call);
}

int64_t GuardObserver::answer(TracedThread &thread, const SystemCall &call) {
  GuardedBlocks &blocks = blocksOf(thread);
  const uint64_t now_ns = readMonotonicNs();
  const auto &arguments = call.arguments;
  switch (static_cast<abi::GuardCall>(arguments[0])) {
  case abi::GuardCall::Offer:
    loaded_ = true;
    if (arguments[1] == 0 || !user_.wants(thread, thread.space->pid, arguments[1]))
      return 0;
    refused_ |= !blocks.hasRoom();
    return blocks.hasRoom() ? 1 : 0;
  case abi::GuardCall::Born:
    blocks_.push_back(blocks.add(arguments[1], arguments[2], arguments[3], now_ns));
    return 0;
  case abi::GuardCall::Moved:
    blocks.measure(arguments[1], residentBytesOf(thread));
    blocks_.push_back(blocks.move(arguments[1], arguments[2], arguments[3], now_ns));
    return 0;
  case abi::GuardCall::Refused:
    refused_ = true;
    return 0;
  case abi::GuardCall::Left:
    if (GuardedBlock *block = blocks.at(arguments[1]); block != nullptr)
      block->unwatched = true;
    [[fallthrough]];
  case abi::GuardCall::Gone:
    blocks.measure(arguments[1], residentBytesOf(thread));
    blocks.remove(arguments[1], now_ns);
    return 0;
  default: // reports of watches and ranges, which were not requested
    return -EINVAL;
  }
}

// Whether the thread need not stop at the end of its call.
bool GuardObserver::openForCall(TracedThread &thread, const SystemCall &call) {
  bool is_given = mayHideBuffers(call);
  for (const Buffer &buffer : buffersOf(thread.space->pid, call)) {
    const GuardedBlock *block = blocksOf(thread).at(buffer.address);
    if (block == nullptr)
      continue;
    is_given = true;
    const uint64_t rest = block->address + block->bytes - buffer.address;
    PageRange closed;
    touch(thread, buffer.address, buffer.bytes <= rest ? buffer.bytes : 1, closed);
    if (!closed.empty()) {
      thread.callFirst(opening(closed)); // then the call begins again, and the next buffer is opened
      return true;
    }
  }
  return !is_given;
}

// If a call has failed with EFAULT, it may have a buffer that buffersOf does not know. So all blocks are opened, and
// the thread repeats the call.
void GuardObserver::callEnds(TracedThread &thread, int64_t result) {
  if (result != -EFAULT)
    return;
  const std::vector<PageRange> closed = blocksOf(thread).openAll();
  for (const PageRange &range : closed)
    thread.call(opening(range), thread.space->instruction);
  if (!closed.empty())
    thread.repeatCall();
}

} // namespace msleaks::analysis::inline second_run
