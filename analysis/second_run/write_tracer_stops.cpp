// How WriteTracer opens and closes the pages of watched blocks: for one instruction, for a call, for a signal.
#include "analysis/second_run/one_instruction.h"
#include "analysis/second_run/write_tracer.h"
#include "msleaks/abi/guarded.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <fstream>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace msleaks::analysis::inline second_run {
namespace {

// The bytes that an instruction which fails on a page writes: in front of the address that the kernel names, and behind
// it.
constexpr uint64_t kBytesBefore = 64, kBytesBehind = 8192;
// Of an argument that may be a buffer (call_buffers.h): smaller, it is no address; larger, the next one is no size.
constexpr uint64_t kLeastAddress = 1 << 16, kMostBufferBytes = uint64_t{1} << 40;

// Whether a handler of the process runs.
bool isCaught(pid_t tid, int signal) {
  std::ifstream status(fmt::format("/proc/{}/status", tid));
  for (std::string word; status >> word;)
    if (uint64_t signals = 0; word == "SigCgt:" && status >> std::hex >> signals)
      return (signals >> (signal - 1) & 1) != 0;
  return true;
}

SystemCall protecting(const ClosablePages &pages, bool closed) {
  return {SYS_mprotect,
          {pages.range.begin, pages.range.end - pages.range.begin,
           static_cast<uint64_t>(closed ? pages.closed() : pages.protection)}};
}

// Addresses that the instruction may have written. One that repeats itself goes along the register for that.
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

// The kernel begins a call again that a signal has ended, unless it has a handler. To make the thread do something then
// would make the kernel forget that.
bool isBegunAgain(int64_t result) {
  constexpr int64_t kFirst = 512, kLast = 516; // ERESTARTSYS, ERESTART_RESTARTBLOCK
  return result <= -kFirst && result >= -kLast;
}

constexpr PageRange kEverything{0, UINT64_MAX};

} // namespace

void WriteTracer::onInterrupted(pid_t tid) {
  const StoppedThread stopped(tid);
  // The kernel begins most calls again by itself.
  if (WatchingThread &interrupted = thread(tid); interrupted.is_interrupted) {
    interrupted.is_interrupted = false;
    if (const auto state = stopped.callState(); state && state->call.number < INT32_MAX && state->result == -EINTR)
      stopped.repeatCall();
  }
  resume(tid);
}

void WriteTracer::onCallStop(pid_t tid) {
  WatchingThread &caller = thread(tid);
  caller.where = WatchingThread::Where::Stopped;
  caller.in_call = !caller.in_call;
  if (caller.in_call)
    beginCall(tid);
  else
    endCall(tid);
  resume(tid);
}

void WriteTracer::beginCall(pid_t tid) {
  WatchingThread &caller = thread(tid);
  const StoppedThread stopped(tid);
  const auto state = stopped.callState();
  if (!state || caller.is_repeated || state->call.number == static_cast<uint64_t>(abi::kGuardCall))
    return;
  WatchingProcess &process = of(tid);
  process.instruction = state->instruction;
  caller.control_block = stopped.controlBlock();
  if (changesMappings(state->call))
    return leaveChanged(tid, state->call);
  noteGiven(tid, state->call);
  if (caller.holdsPages() && process.is_closed)
    openForCall(tid);
}

void WriteTracer::noteGiven(pid_t tid, const SystemCall &call) {
  const WatchingProcess &process = of(tid);
  for (const Buffer &buffer : buffersOf(process.pid, call))
    if (const Buffer given{buffer.address, buffer.bytes < kMostBufferBytes ? buffer.bytes : 0};
        given.address >= kLeastAddress && process.liesOn(given))
      thread(tid).given.push_back(given);
}

// What the program does with its pages is between it and the kernel: they are watched no more.
void WriteTracer::leaveChanged(pid_t tid, const SystemCall &call) {
  const auto &arguments = call.arguments;
  if (call.number == SYS_mmap && (arguments[3] & MAP_FIXED) == 0)
    return;
  WatchingProcess &process = of(tid);
  const auto isChanged = [&](const WatchedBlock &block) { return block.liesOn({arguments[0], arguments[1]}); };
  if (std::ranges::none_of(process.blocks, isChanged))
    return;
  incomplete_ |= call.number == SYS_mprotect;
  if (process.is_closed)
    openForCall(tid);
  process.blocks.remove_if(isChanged);
}

// Then the call begins anew.
void WriteTracer::openForCall(pid_t tid) {
  WatchingProcess &process = of(tid);
  WatchingThread &caller = thread(tid);
  const StoppedThread stopped(tid);
  for (const WatchedBlock &block : process.blocks)
    for (const ClosablePages &pages : block.pages()) {
      if (!caller.is_repeated)
        stopped.callFirst(protecting(pages, false));
      else
        stopped.call(protecting(pages, false), process.instruction);
      caller.is_repeated = true;
    }
  caller.in_call = false;
  process.is_closed = false;
}

void WriteTracer::endCall(pid_t tid) {
  WatchingThread &caller = thread(tid);
  const StoppedThread stopped(tid);
  const auto state = stopped.callState();
  if (caller.told) {
    const Told told = *std::exchange(caller.told, std::nullopt);
    return perform(tid, told);
  }
  const int64_t result = state ? state->result : 0;
  if (std::exchange(caller.is_interrupted, false) && result == -EINTR) {
    caller.given.clear();
    stopped.repeatCall();
    return;
  }
  // It may have been given pages that nobody could see: it is made again.
  if (result == -EFAULT && of(tid).is_closed) {
    setPages(tid, false);
    caller.is_given_all = caller.is_repeated = true;
    stopped.repeatCall();
    return;
  }
  tellWritesOfCall(tid);
  caller.given.clear();
  caller.is_given_all = caller.is_repeated = false;
  if (!isBegunAgain(result))
    update(tid);
}

// What it is given may be larger than it says; where another thread may have written, too, nobody knows who did.
void WriteTracer::tellWritesOfCall(pid_t tid) {
  WatchingProcess &process = of(tid);
  const WatchingThread &caller = thread(tid);
  if (!process.is_known || !caller.holdsPages())
    return;
  const bool is_all = caller.is_given_all || process.threads == 1;
  for (WatchedBlock &block : process.blocks) {
    bool is_given = caller.is_given_all;
    for (const Buffer &buffer : caller.given) {
      const bool begins_there = buffer.address >= block.bytes().begin && buffer.address < block.bytes().end;
      is_given = is_given || begins_there;
      if (const auto changed = block.change({buffer.address, buffer.address + buffer.bytes}, process.reading()))
        tell(tid, *changed, true, begins_there);
    }
    if (const auto changed = is_all ? block.change(kEverything, process.reading()) : std::nullopt)
      tell(tid, *changed, true, is_given);
  }
}

bool WriteTracer::isHeld(const WatchingProcess &process) const {
  return std::ranges::any_of(threads(), [&](const auto &entry) {
    const auto state = states_.find(entry.first);
    return entry.second.get() == &process && state != states_.end() && state->second->holdsPages();
  });
}

void WriteTracer::setPages(pid_t tid, bool closed) {
  WatchingProcess &process = of(tid);
  if (process.is_closed == closed)
    return;
  const StoppedThread stopped(tid);
  for (const WatchedBlock &block : process.blocks)
    for (const ClosablePages &pages : block.pages())
      stopped.call(protecting(pages, closed), process.instruction);
  process.is_closed = closed;
}

// What has changed outside of what calls are given while the pages were open, nobody has seen.
void WriteTracer::noteUnseen(WatchingProcess &process) {
  for (WatchedBlock &block : process.blocks)
    if (process.is_known && !process.is_closed && block.change(kEverything, process.reading()))
      incomplete_ = true;
}

// Behind what this thread has done: the pages are closed while a thread is in the operation, unless a call holds them
// open.
void WriteTracer::update(pid_t tid) {
  WatchingProcess &process = of(tid);
  if (!isAsked(process) || process.blocks.empty()) {
    noteUnseen(process);
    setPages(tid, false);
    process.is_known = false;
    return;
  }
  const bool is_held = isHeld(process);
  if (process.is_closed || (is_held && process.is_known))
    return;
  if (!is_held)
    stopOthers(tid, Which::Running);
  noteUnseen(process);
  if (!process.is_known)
    for (WatchedBlock &block : process.blocks)
      block.keep(process.reading());
  process.is_known = true;
  if (!is_held)
    setPages(tid, true);
}

void WriteTracer::onSignal(pid_t tid, int signal) {
  WatchingThread &stopped = thread(tid);
  stopped.where = WatchingThread::Where::Stopped;
  if (stopped.kept && stopped.kept->si_signo == signal) {
    ptrace(PTRACE_SETSIGINFO, tid, nullptr, &*stopped.kept);
    stopped.kept.reset();
  }
  siginfo_t info{};
  WatchingProcess &process = of(tid);
  if (process.blocks.empty() || ptrace(PTRACE_GETSIGINFO, tid, nullptr, &info) != 0)
    return resume(tid, signal);
  const auto address = reinterpret_cast<uint64_t>(info.si_addr);
  if (signal == SIGSEGV && info.si_code == SEGV_ACCERR && process.liesOn({address, 1}))
    return process.is_closed ? write(tid, address) : resume(tid); // it was opened meanwhile
  if (!process.is_closed || !isCaught(tid, signal))
    return resume(tid, signal);
  stopOthers(tid, Which::Running);
  setPages(tid, false);
  if (sendAgain(tid, info))
    runHandler(tid, signal);
}

// Behind a call that it was made to make, a thread has lost its signal. False: it reports something else first.
bool WriteTracer::sendAgain(pid_t tid, siginfo_t &info) {
  ptrace(PTRACE_SYSCALL, tid, nullptr, static_cast<intptr_t>(info.si_signo));
  const auto status = waitForStop(tid);
  if (status && isSignalStop(*status) && WSTOPSIG(*status) == info.si_signo)
    return ptrace(PTRACE_SETSIGINFO, tid, nullptr, &info) == 0;
  thread(tid).kept = info;
  if (status)
    defer({tid, *status});
  return false;
}

// The kernel writes the frame of the handler, perhaps on one of the pages, which are open.
void WriteTracer::runHandler(pid_t tid, int signal) {
  if (!isCaught(tid, signal))
    return resume(tid, signal);
  ptrace(PTRACE_SINGLESTEP, tid, nullptr, static_cast<intptr_t>(signal));
  const auto status = waitForStop(tid);
  if (!status || !isTrap(*status)) {
    if (status)
      defer({tid, *status});
    return;
  }
  setPages(tid, true);
  for (WatchedBlock &block : of(tid).blocks)
    block.keep(of(tid).reading());
  resume(tid);
}

void WriteTracer::write(pid_t tid, uint64_t address) {
  WatchingProcess &process = of(tid);
  const StoppedThread stopped(tid);
  const auto before = stopped.registers();
  stopOthers(tid, Which::Running);
  setPages(tid, false);
  const Instruction instruction = makeInstruction(stopped, process.pid);
  if (!instruction.made) { // as when it writes where nothing is, too
    if (instruction.instead && isSignalStop(*instruction.instead))
      runHandler(tid, WSTOPSIG(*instruction.instead));
    else if (instruction.instead)
      defer({tid, *instruction.instead});
    return;
  }
  setPages(tid, true);
  if (const auto after = stopped.registers(); before && after)
    tellWrites(tid, *before, *after, writtenBy(address, *before, *after));
  resume(tid);
}

void WriteTracer::tellWrites(pid_t tid, const user_regs_struct &before, const user_regs_struct &after,
                             PageRange written) {
  const StoppedThread stopped(tid);
  for (WatchedBlock &block : of(tid).blocks)
    if (const auto changed = block.change(written, of(tid).reading())) {
      stopped.setRegisters(before);
      tell(tid, *changed, false, false);
      stopped.setRegisters(after);
    }
}

void WriteTracer::tell(pid_t tid, ChangedBytes bytes, bool by_call, bool given) {
  const WatchingThread &writer = thread(tid);
  const WatchingProcess &process = of(tid);
  user_.written(StoppedThread(tid), process.pid,
                {bytes, by_call, given, isWithin(tid), writer.ranges.empty() ? std::string() : writer.ranges.back(),
                 process.step});
}

} // namespace msleaks::analysis::inline second_run
