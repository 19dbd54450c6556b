#include "analysis/second_run/guard_tracer.h"

#include "analysis/base/machine.h"
#include "analysis/reach/process_memory.h"
#include "analysis/second_run/watched_process.h"
#include "msleaks/abi/guarded.h"

#include <cerrno>
#include <csignal>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace msleaks::analysis::inline second_run {
namespace {

SystemCall opening(PageRange range) {
  return {SYS_mprotect, {range.begin, range.end - range.begin, PROT_READ | PROT_WRITE}};
}

// The bytes that were ever touched of these pages, which nobody had before.
uint64_t residentBytes(pid_t process, PageRange range) {
  uint64_t bytes = 0;
  for (const ProcessMemory::Run &run : ProcessMemory(static_cast<uint32_t>(process)).touched(range.begin, range.end))
    bytes += run.end - run.begin;
  return bytes;
}

} // namespace

struct GuardTracer::Process : AddressSpace {
  using AddressSpace::AddressSpace;
  GuardedBlocks blocks{pageBytes()};

  GuardedBlocks::ResidentBytes resident() const {
    return [this](PageRange range) { return residentBytes(pid, range); };
  }
};

GuardTracer::Process &GuardTracer::of(pid_t tid) { return static_cast<Process &>(*threads().at(tid)); }

std::shared_ptr<Tracer::AddressSpace> GuardTracer::makeSpace(pid_t pid) const { return std::make_shared<Process>(pid); }
std::shared_ptr<Tracer::AddressSpace> GuardTracer::copySpace(const AddressSpace &space) const {
  return std::make_shared<Process>(static_cast<const Process &>(space));
}

void GuardTracer::onSpaceEnd(AddressSpace &space) {
  auto &process = static_cast<Process &>(space);
  process.blocks.measureAll(process.resident());
}

void GuardTracer::onSignal(pid_t tid, int signal) {
  siginfo_t info{};
  if (signal != SIGSEGV || ptrace(PTRACE_GETSIGINFO, tid, nullptr, &info) != 0 || info.si_code != SEGV_ACCERR)
    return resume(tid, signal);
  Process &process = of(tid);
  const StoppedThread thread(tid);
  PageRange closed;
  if (!touch(process, thread, reinterpret_cast<uint64_t>(info.si_addr), 1, closed))
    return resume(tid, signal);
  // Empty: another thread has had it opened meanwhile.
  if (!closed.empty() && thread.call(opening(closed), process.instruction).value_or(0) != 0)
    return resume(tid, signal);
  resume(tid);
}

// Whether the address is of a guarded block; `closed` is what has to be opened then.
bool GuardTracer::touch(Process &process, const StoppedThread &thread, uint64_t address, uint64_t bytes,
                        PageRange &closed) {
  const GuardedBlocks::Touch touch = process.blocks.touch(address, bytes, readMonotonicNs());
  if (touch.first)
    user_.touched(thread, process.pid, *touch.block);
  closed = touch.closed;
  return touch.block != nullptr;
}

// Behind the end of a call that may be given guarded blocks it stops again.
void GuardTracer::onCall(pid_t tid) {
  const StoppedThread thread(tid);
  Process &process = of(tid);
  const auto state = thread.callState();
  bool goes_on = true;
  if (state) {
    process.instruction = state->instruction;
    if (state->call.number == static_cast<uint64_t>(abi::kGuardCall))
      thread.answerCall(answer(process, thread, state->call));
    else if (!process.blocks.empty())
      goes_on = openForCall(process, thread, state->call);
  }
  if (goes_on)
    resume(tid);
  else
    ptrace(PTRACE_SYSCALL, tid, nullptr, nullptr);
}

int64_t GuardTracer::answer(Process &process, const StoppedThread &thread, const SystemCall &call) {
  GuardedBlocks &blocks = process.blocks;
  const uint64_t now_ns = readMonotonicNs();
  const auto &arguments = call.arguments;
  switch (static_cast<abi::GuardCall>(arguments[0])) {
  case abi::GuardCall::Offer:
    loaded_ = true;
    if (arguments[1] == 0 || !user_.wants(thread, process.pid, arguments[1]))
      return 0;
    refused_ |= !blocks.hasRoom();
    return blocks.hasRoom() ? 1 : 0;
  case abi::GuardCall::Born:
    blocks_.push_back(blocks.add(arguments[1], arguments[2], arguments[3], now_ns));
    return 0;
  case abi::GuardCall::Moved:
    blocks.measure(arguments[1], process.resident());
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
    blocks.measure(arguments[1], process.resident());
    blocks.remove(arguments[1], now_ns);
    return 0;
  default: // of watches and ranges, which nobody is asked to tell here
    return -EINVAL;
  }
}

// Whether the thread can go on without a stop at the end of its call.
bool GuardTracer::openForCall(Process &process, const StoppedThread &thread, const SystemCall &call) {
  bool is_given = mayHideBuffers(call);
  for (const Buffer &buffer : buffersOf(process.pid, call)) {
    const GuardedBlock *block = process.blocks.at(buffer.address);
    if (block == nullptr)
      continue;
    is_given = true;
    const uint64_t rest = block->address + block->bytes - buffer.address;
    PageRange closed;
    touch(process, thread, buffer.address, buffer.bytes <= rest ? buffer.bytes : 1, closed);
    if (!closed.empty()) {
      thread.callFirst(opening(closed)); // then the call begins anew, and its next buffer is looked at
      return true;
    }
  }
  return !is_given;
}

// A call may have been given a block that nobody could see: then all are opened, and it is made again.
void GuardTracer::onCallStop(pid_t tid) {
  const StoppedThread thread(tid);
  Process &process = of(tid);
  if (const auto state = thread.callState(); state && state->result == -EFAULT) {
    const std::vector<PageRange> closed = process.blocks.openAll();
    for (const PageRange &range : closed)
      thread.call(opening(range), process.instruction);
    if (!closed.empty())
      thread.repeatCall();
  }
  resume(tid);
}

} // namespace msleaks::analysis::inline second_run
