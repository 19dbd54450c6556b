#include "analysis/verify/tracer.h"

#include "analysis/base/clock.h"
#include "analysis/collect/process_memory.h"
#include "msleaks/abi/guarded.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

// Ends the program, should we end first: nobody could open its blocks any more.
constexpr int kOptions = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                         PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_TRACESECCOMP;
constexpr int kEventShift = 16;

SystemCall opening(PageRange range) {
  return {SYS_mprotect, {range.begin, range.end - range.begin, PROT_READ | PROT_WRITE}};
}

// What was ever touched of these pages, which nobody had before.
uint64_t residentBytes(pid_t process, PageRange range) {
  uint64_t bytes = 0;
  for (const ProcessMemory::Run &run : ProcessMemory(static_cast<uint32_t>(process)).touched(range.begin, range.end))
    bytes += run.end - run.begin;
  return bytes;
}

uint64_t pageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

} // namespace

// An address space.
struct Tracer::Process {
  explicit Process(pid_t pid) : pid(pid) {}
  pid_t pid;
  GuardedBlocks blocks{pageBytes()};
  uint64_t instruction = 0; // of one that makes a system call
  uint32_t threads = 1;     // that do not exit yet

  GuardedBlocks::ResidentBytes resident() const {
    return [this](PageRange range) { return residentBytes(pid, range); };
  }
};

Result<void> Tracer::seize(pid_t child) {
  if (!kCanTrace)
    return fail("verify needs an x86-64 processor");
  if (ptrace(PTRACE_SEIZE, child, nullptr, kOptions) != 0)
    return fail(fmt::format("the program cannot be traced (ptrace: {}); a container may need --cap-add=SYS_PTRACE",
                            std::strerror(errno)));
  program_ = child;
  threads_[child] = std::make_shared<Process>(child); // it stops when it has called exec
  return {};
}

void Tracer::filterCalls() const {
  const sock_fprog program{static_cast<unsigned short>(filter_.size()), const_cast<sock_filter *>(filter_.data())};
  // Who is traced gets no more privileges by exec anyway.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int Tracer::run() {
  while (!threads_.empty()) {
    int status = 0;
    const pid_t tid = waitpid(-1, &status, __WALL);
    if (tid < 0 && errno == EINTR)
      continue;
    if (tid < 0)
      break;
    if (WIFSTOPPED(status)) {
      onStop(tid, status);
      continue;
    }
    threads_.erase(tid);
    early_.erase(tid);
    if (tid == program_)
      status_ = status;
  }
  return status_;
}

void Tracer::resume(pid_t tid, int signal) {
  ptrace(PTRACE_CONT, tid, nullptr, reinterpret_cast<void *>(static_cast<intptr_t>(signal)));
}

void Tracer::onStop(pid_t tid, int status) {
  if (!threads_.contains(tid)) {
    early_.insert(tid);
    return;
  }
  const int signal = WSTOPSIG(status), event = status >> kEventShift;
  if (event != 0)
    onEvent(tid, event, signal);
  else if (signal == (SIGTRAP | 0x80))
    onCallEnd(tid);
  else
    onSignal(tid, signal);
}

void Tracer::onEvent(pid_t tid, int event, int signal) {
  if (event == PTRACE_EVENT_STOP) {
    // The first stop of a new thread, or one of its whole process, which lasts until somebody continues that.
    if (signal == SIGTRAP)
      resume(tid);
    else
      ptrace(PTRACE_LISTEN, tid, nullptr, nullptr);
    return;
  }
  if (event == PTRACE_EVENT_SECCOMP)
    return onCall(tid);
  if (event == PTRACE_EVENT_EXEC)
    onExec(tid);
  else if (event == PTRACE_EVENT_EXIT)
    onExit(tid);
  else
    onBirth(tid, event);
  resume(tid);
}

void Tracer::onExec(pid_t tid) {
  unsigned long former = 0;
  ptrace(PTRACE_GETEVENTMSG, tid, nullptr, &former);
  if (static_cast<pid_t>(former) != tid)
    threads_.erase(static_cast<pid_t>(former));
  threads_[tid] = std::make_shared<Process>(tid);
  user_.replaced(tid);
}

// Its memory is there as long as one of its threads has not gone on from here.
void Tracer::onExit(pid_t tid) {
  Process &process = *threads_[tid];
  if (--process.threads == 0)
    process.blocks.measureAll(process.resident());
}

void Tracer::onBirth(pid_t parent, int event) {
  unsigned long child = 0;
  if (ptrace(PTRACE_GETEVENTMSG, parent, nullptr, &child) != 0)
    return;
  const auto tid = static_cast<pid_t>(child);
  const std::shared_ptr<Process> process = threads_[parent];
  if (event == PTRACE_EVENT_FORK) { // its memory is a copy
    auto copy = std::make_shared<Process>(*process);
    copy->pid = tid;
    copy->threads = 1;
    threads_[tid] = std::move(copy);
  } else {
    threads_[tid] = process;
    ++process->threads;
  }
  if (early_.erase(tid) != 0)
    resume(tid);
}

void Tracer::onSignal(pid_t tid, int signal) {
  siginfo_t info{};
  if (signal != SIGSEGV || ptrace(PTRACE_GETSIGINFO, tid, nullptr, &info) != 0 || info.si_code != SEGV_ACCERR)
    return resume(tid, signal);
  Process &process = *threads_[tid];
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
bool Tracer::touch(Process &process, const StoppedThread &thread, uint64_t address, uint64_t bytes, PageRange &closed) {
  const GuardedBlocks::Touch touch = process.blocks.touch(address, bytes, readMonotonicNs());
  if (touch.first)
    user_.touched(thread, process.pid, *touch.block);
  closed = touch.closed;
  return touch.block != nullptr;
}

// Behind the end of a call that may be given guarded blocks it stops again.
void Tracer::onCall(pid_t tid) {
  const StoppedThread thread(tid);
  Process &process = *threads_[tid];
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

int64_t Tracer::answer(Process &process, const StoppedThread &thread, const SystemCall &call) {
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
  case abi::GuardCall::Left:
    if (GuardedBlock *block = blocks.at(arguments[1]); block != nullptr)
      block->unwatched = true;
    [[fallthrough]];
  case abi::GuardCall::Gone:
    blocks.measure(arguments[1], process.resident());
    blocks.remove(arguments[1], now_ns);
    return 0;
  }
  return -EINVAL;
}

// Whether the thread can go on without a stop at the end of its call.
bool Tracer::openForCall(Process &process, const StoppedThread &thread, const SystemCall &call) {
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
void Tracer::onCallEnd(pid_t tid) {
  const StoppedThread thread(tid);
  Process &process = *threads_[tid];
  if (const auto state = thread.callState(); state && state->result == -EFAULT) {
    const std::vector<PageRange> closed = process.blocks.openAll();
    for (const PageRange &range : closed)
      thread.call(opening(range), process.instruction);
    if (!closed.empty())
      thread.repeatCall();
  }
  resume(tid);
}

} // namespace msleaks::analysis
