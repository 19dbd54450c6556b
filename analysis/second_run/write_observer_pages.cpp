// Opens and closes the pages of watched blocks: for one instruction, for a system call, for a signal handler.
#include "analysis/second_run/one_instruction.h"
#include "analysis/second_run/write_observer.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace msleaks::analysis::inline second_run {
namespace {

// An instruction may write these bytes before and after the address that the kernel reports for it.
constexpr uint64_t kBytesBefore = 64, kBytesBehind = 8192;
// A smaller argument of a call is no address. A larger argument is no size of a buffer.
constexpr uint64_t kLeastAddress = 1 << 16, kMostBufferBytes = uint64_t{1} << 40;

// Whether the process has a handler for the signal.
bool isCaught(pid_t tid, int signal) {
  const std::string signals = statusOf(tid, "SigCgt:");
  return signals.empty() || (std::strtoull(signals.c_str(), nullptr, 16) >> (signal - 1) & 1) != 0;
}

// Returns the addresses to which the instruction may have written. An instruction that repeats its write changes RDI.
PageRange writtenBy(uint64_t address, const user_regs_struct &before, const user_regs_struct &after) {
  PageRange written{address - std::min(address, kBytesBefore), address + kBytesBehind};
#if defined(__x86_64__)
  if (const auto [low, high] = std::minmax<uint64_t>({before.rdi, after.rdi}); low != high) {
    written.begin = std::min(written.begin, low);
    written.end = std::max(written.end, high + kBytesBefore);
  }
#endif
  return written;
}

// If a signal without a handler ends a call, the kernel makes the call again. It would not do so if the thread made
// another call meanwhile.
bool isBegunAgain(int64_t result) {
  constexpr int64_t kLast = -516; // ERESTART_RESTARTBLOCK
  return result <= kBegunAgain && result >= kLast;
}

constexpr PageRange kEverything{0, UINT64_MAX};

// Opens the pages at the beginning of a call. Then the call begins again.
void openForCall(TracedThread &thread) {
  WatchingProcess &process = processOf(thread);
  WatchingThread &caller = watchingOf(thread);
  for (const WatchedBlock &block : process.blocks)
    for (const ClosablePages &pages : block.pages()) {
      if (!caller.is_repeated)
        thread.callFirst(pages.setting(false));
      else
        thread.call(pages.setting(false), thread.space->instruction);
      caller.is_repeated = true;
    }
  thread.in_call = false;
  process.is_closed = false;
}

// A thread that has made a call for us has lost its signal, so the signal is sent again. Returns false if the thread
// reports something else first.
bool sendAgain(TracedThread &thread, const siginfo_t &info) {
  if (thread.tracer->runTo(thread, PTRACE_SYSCALL, info.si_signo, info.si_signo))
    return thread.setSignal(info);
  watchingOf(thread).kept = info;
  return false;
}

// Enters the signal handler while the pages are open: the kernel may write the handler's frame to one of the pages.
std::optional<int> runHandler(TracedThread &thread, int signal) {
  if (!isCaught(thread.tid(), signal))
    return signal;
  if (!thread.tracer->runTo(thread, PTRACE_SINGLESTEP, signal, SIGTRAP))
    return std::nullopt;
  setPages(thread, true);
  for (WatchedBlock &block : processOf(thread).blocks)
    block.keep(memoryOf(thread));
  return 0;
}

} // namespace

void WriteObserver::callBegins(TracedThread &thread, const SystemCall &call) {
  WatchingThread &caller = watchingOf(thread);
  caller.control_block = thread.controlBlock();
  if (caller.is_repeated || call.number == static_cast<uint64_t>(abi::kGuardCall))
    return;
  if (changesMappings(call))
    return leaveChanged(thread, call);
  noteGiven(thread, call);
  if (caller.holdsPages() && processOf(thread).is_closed)
    openForCall(thread);
}

void WriteObserver::noteGiven(TracedThread &thread, const SystemCall &call) {
  std::vector<Buffer> &given = watchingOf(thread).given;
  given.clear();
  for (const Buffer &buffer : buffersOf(thread.space->pid, call))
    if (const Buffer whole{buffer.address, buffer.bytes < kMostBufferBytes ? buffer.bytes : 0};
        whole.address >= kLeastAddress && processOf(thread).liesOn(whole))
      given.push_back(whole);
}

// If the program itself changes the protection or the mapping of pages, their blocks are no longer watched.
void WriteObserver::leaveChanged(TracedThread &thread, const SystemCall &call) {
  const auto &arguments = call.arguments;
  if (call.number == SYS_mmap && (arguments[3] & MAP_FIXED) == 0)
    return;
  WatchingProcess &process = processOf(thread);
  const auto isChanged = [&](const WatchedBlock &block) { return block.liesOn({arguments[0], arguments[1]}); };
  if (std::ranges::none_of(process.blocks, isChanged))
    return;
  incomplete_ |= call.number == SYS_mprotect;
  if (process.is_closed)
    openForCall(thread);
  process.blocks.remove_if(isChanged);
}

void WriteObserver::callEnds(TracedThread &thread, int64_t result) {
  WatchingThread &caller = watchingOf(thread);
  if (caller.told)
    return perform(thread, *std::exchange(caller.told, std::nullopt));
  // The call may have a buffer that buffersOf does not know. So it is made again with open pages.
  if (result == -EFAULT && processOf(thread).is_closed) {
    setPages(thread, false);
    caller.is_given_all = caller.is_repeated = true;
    thread.repeatCall();
    return;
  }
  tellWritesOfCall(thread);
  caller.given.clear();
  caller.is_given_all = caller.is_repeated = false;
  if (!isBegunAgain(result))
    update(thread);
}

// A call may write more than its arguments say. If another thread can write meanwhile, only changes in the call's
// buffers count as made by the call.
void WriteObserver::tellWritesOfCall(TracedThread &thread) {
  WatchingProcess &process = processOf(thread);
  const WatchingThread &caller = watchingOf(thread);
  if (!process.is_known || !caller.holdsPages())
    return;
  const bool is_all = caller.is_given_all || thread.tracer->isAlone(thread);
  const WatchedBlock::Read memory = memoryOf(thread);
  for (WatchedBlock &block : process.blocks) {
    bool is_given = caller.is_given_all;
    for (const Buffer &buffer : caller.given) {
      const bool begins_there = buffer.address >= block.bytes().begin && buffer.address < block.bytes().end;
      is_given = is_given || begins_there;
      if (const auto changed = block.change({buffer.address, buffer.address + buffer.bytes}, memory))
        tell(thread, *changed, true, begins_there);
    }
    if (const auto changed = is_all ? block.change(kEverything, memory) : std::nullopt)
      tell(thread, *changed, true, is_given);
  }
}

// Notes changes that happened while the pages were open, outside of the buffers of calls.
void WriteObserver::noteUnseen(const TracedThread &thread) {
  WatchingProcess &process = processOf(thread);
  for (WatchedBlock &block : process.blocks)
    if (process.is_known && !process.is_closed && block.change(kEverything, memoryOf(thread)))
      incomplete_ = true;
}

// Opens or closes the pages after a call of the thread. They are closed while a thread is in the operation, unless a
// call needs them open.
void WriteObserver::update(TracedThread &thread) {
  WatchingProcess &process = processOf(thread);
  if (!isAsked(thread) || process.blocks.empty()) {
    noteUnseen(thread);
    setPages(thread, false);
    process.is_known = false;
    return;
  }
  const bool is_held = anyOfProcess(thread, [](const WatchingThread &other) { return other.holdsPages(); });
  if (process.is_closed || (is_held && process.is_known))
    return;
  if (!is_held)
    thread.tracer->stopOthers(thread);
  noteUnseen(thread);
  if (!process.is_known)
    for (WatchedBlock &block : process.blocks)
      block.keep(memoryOf(thread));
  process.is_known = true;
  if (!is_held)
    setPages(thread, true);
}

std::optional<int> WriteObserver::signalled(TracedThread &thread, int signal) {
  WatchingThread &stopped = watchingOf(thread);
  if (stopped.kept && stopped.kept->si_signo == signal) {
    thread.setSignal(*stopped.kept);
    stopped.kept.reset();
  }
  const WatchingProcess &process = processOf(thread);
  const auto info = process.blocks.empty() ? std::nullopt : thread.signal();
  if (!info)
    return signal;
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  if (signal == SIGSEGV && info->si_code == SEGV_ACCERR && process.liesOn({address, 1}))
    return process.is_closed ? write(thread, address) : 0; // the page was opened meanwhile
  if (!process.is_closed || !isCaught(thread.tid(), signal))
    return signal;
  thread.tracer->stopOthers(thread);
  setPages(thread, false);
  return sendAgain(thread, *info) ? runHandler(thread, signal) : std::nullopt;
}

std::optional<int> WriteObserver::write(TracedThread &thread, uint64_t address) {
  const auto before = thread.registers();
  thread.tracer->stopOthers(thread);
  setPages(thread, false);
  const Instruction instruction = makeInstruction(thread, thread.space->pid);
  if (!instruction.made) { // for example, if it also writes to an address that is not mapped
    if (instruction.instead && isSignalStop(*instruction.instead))
      return runHandler(thread, WSTOPSIG(*instruction.instead));
    if (instruction.instead)
      thread.tracer->defer(thread, *instruction.instead);
    return std::nullopt;
  }
  setPages(thread, true);
  if (const auto after = thread.registers(); before && after)
    tellWrites(thread, *before, *after, writtenBy(address, *before, *after));
  return 0;
}

void WriteObserver::tellWrites(TracedThread &thread, const user_regs_struct &before, const user_regs_struct &after,
                               PageRange written) {
  for (WatchedBlock &block : processOf(thread).blocks)
    if (const auto changed = block.change(written, memoryOf(thread))) {
      thread.setRegisters(before);
      tell(thread, *changed, false, false);
      thread.setRegisters(after);
    }
}

void WriteObserver::tell(TracedThread &thread, ChangedBytes bytes, bool by_call, bool given) {
  const std::vector<std::string> &ranges = watchingOf(thread).ranges;
  user_.written(thread, thread.space->pid,
                {bytes, by_call, given, isWithin(thread), ranges.empty() ? std::string() : ranges.back(),
                 processOf(thread).step});
}

} // namespace msleaks::analysis::inline second_run
