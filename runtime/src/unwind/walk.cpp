#include "unwind/walk.h"

#include "kernel.h"
#include "unwind/code.h"
#include "unwind/frame_record.h"
#include "unwind/tables.h"

#include "loaded_object.h"

#include "msleaks/runtime/page.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace msleaks::runtime::unwind {

constinit RuleCache rules{};

namespace {

// The last run of a program from the tables. Only one thread at a time uses it. A signal handler that interrupts this
// thread does not use it, nor does a thread while code may be unloaded.
constinit std::atomic<bool> is_last_run_used{false};
constinit uint64_t epoch_of_last_run = 0;
constinit Run last_run{};

Rule ruleIn(const Tables &tables, uint64_t address) noexcept {
  const uint64_t epoch = rules.epoch();
  if (RuleCache::isUnloading(epoch) || is_last_run_used.exchange(true, std::memory_order_acquire))
    return findRule(tables, address);
  if (std::exchange(epoch_of_last_run, epoch) != epoch)
    last_run.function = 0;
  const Rule rule = findRuleAfter(last_run, tables, address);
  is_last_run_used.store(false, std::memory_order_release);
  return rule;
}

Rule ruleInTables(uint64_t address) noexcept {
  LoadedObject object;
  if (!findLoadedObject(address, object))
    return {};
  if (object.eh_frame_header == 0)
    return {.kind = RuleKind::NoTable};
  Tables tables{};
  return findTables(object, tables) ? ruleIn(tables, address) : Rule{};
}

} // namespace

uint64_t beginOfFunction(uint64_t address) noexcept {
  LoadedRange range;
  LoadedObject object;
  Tables tables{};
  return findLoadedRange(address, range) && findLoadedObject(address, object) && findTables(object, tables)
             ? findFunction(tables, address).begin
             : 0;
}

namespace {

bool isKnown(const Rule &rule) noexcept { return rule.kind != RuleKind::Unknown && rule.kind != RuleKind::NoTable; }

// Whether the address is on the frame's stack: it is near the stack pointer, and all pages between them are mapped.
bool isOnStack(uint64_t address, const Frame &frame) noexcept {
  constexpr uint64_t kNear = 256 << 10;
  const uint64_t low = std::min(address, frame.stack_pointer), high = std::max(address, frame.stack_pointer);
  if (high - low > kNear)
    return false;
  for (uint64_t at = low; at < high; at += pageBytes())
    if (!isReadable(at))
      return false;
  return isReadable(high);
}

// Whether the frame's address is certainly not a return address. The address may be any word of the stack if a table is
// wrong, as for some of libc's assembler code. Code outside of all images is not read, since it may be unmapped at any
// moment.
bool isNoCall(const Frame &frame, const Rule &rule) noexcept {
  const bool by_call = !isKnown(rule) || rule.kind == RuleKind::Plain || rule.kind == RuleKind::Realigned;
  if (frame.is_interrupted || !by_call || !mayCallKernel())
    return false;
  LoadedObject object;
  if (findLoadedObject(codeOf(frame), object))
    return !mayFollowCall(object, frame.address);
  return !isReadable(codeOf(frame)) || isOnStack(frame.address, frame);
}

} // namespace

Rule lookUp(const Frame &frame) noexcept {
  const uint64_t address = codeOf(frame);
  Rule rule = ruleInTables(address);
  // On AArch64, signal handlers return to code of the kernel that has no unwind table since Linux 5.8.
  if (!isKnown(rule) && isReturnOfHandler(frame.address))
    rule = {.kind = RuleKind::Signal};
  if (!isKnown(rule) && frame.is_interrupted && isInPlt(frame.address))
    rule = {.kind = RuleKind::Plain}; // nothing is pushed, and the return address is still in the link register
  // If a function begins here and no call is before it, this is no return address. makecontext puts such an address at
  // the end of a stack, and so does other code that makes stacks.
  if (!isKnown(rule) && isKnown(ruleInTables(address + 1)) && !mayFollowCall(address + 1))
    rule = {.kind = RuleKind::Outermost};
  if (isNoCall(frame, rule))
    rule = {.kind = RuleKind::NoCall};
  rules.put(address, rule);
  return rule;
}

namespace {

uint64_t plus(uint64_t address, int64_t offset) noexcept { return address + static_cast<uint64_t>(offset); }

// Changes the frame of a signal handler to the frame of the interrupted function, which may have run on another stack.
Step leaveHandler(Frame &frame, Stack &stack) noexcept {
  const uint64_t pushed = frame.stack_pointer;
  uint64_t stack_pointer = 0;
  if (!stack.read(pushed + machine::kSignalStack, stack_pointer) ||
      !stack.read(pushed + machine::kSignalAddress, frame.address) ||
      !stack.read(pushed + machine::kSignalFrame, frame.frame_pointer) ||
      !stack.read(pushed + machine::kSignalLink, frame.link))
    return Step::Unknown;
  frame.stack_pointer = stack_pointer;
  frame.address_at = 0;
  frame.used_frame_pointer = true;
  frame.is_interrupted = true;
  stack.enter(stack_pointer);
  return Step::Caller;
}

Step leavePlt(Frame &frame, const Rule &rule, Stack &stack) noexcept {
  const uint64_t pushed = static_cast<int64_t>(frame.address & 15) >= rule.offset ? 8 : 0;
  const uint64_t cfa = frame.stack_pointer + 8 + pushed;
  if (!stack.read(cfa - 8, frame.address))
    return Step::Unknown;
  frame.stack_pointer = cfa;
  frame.address_at = 0;
  frame.used_frame_pointer = true;
  frame.is_interrupted = false;
  return Step::Caller;
}

// Finds the CFA, the return address and the caller's frame pointer in the cases that step() does not handle. The stack
// was realigned, the return address is in a register, or the rule comes from a frame record (frame_record.h).
Step leave(Frame &frame, const Rule &rule, Stack &stack) noexcept {
  const uint64_t base = rule.base == Base::StackPointer ? frame.stack_pointer : frame.frame_pointer;
  uint64_t cfa = plus(base, rule.offset);
  const bool is_word = rule.kind == RuleKind::Realigned;
  if (is_word && !stack.read(cfa, cfa))
    return Step::Unknown;
  // Only in a function that a signal has interrupted, the return address can be in the link register. Such a function
  // may have the same stack pointer as at its call.
  const bool in_register = rule.return_slot == Rule::kNotSaved;
  if (in_register && (!machine::kHasLinkRegister || !frame.is_interrupted))
    return Step::Unknown;
  if (cfa < frame.stack_pointer || (cfa == frame.stack_pointer && !in_register))
    return Step::Unknown;
  uint64_t return_address = frame.link;
  if (!in_register && !stack.read(plus(cfa, rule.return_slot), return_address))
    return Step::Unknown;
  if (rule.frame_slot != Rule::kNotSaved &&
      !stack.read(plus(is_word ? base : cfa, rule.frame_slot), frame.frame_pointer))
    return Step::Unknown;
  frame.address = stripped(return_address);
  frame.stack_pointer = cfa;
  frame.address_at = 0; // no single word of the stack determines `address`
  frame.used_frame_pointer = true;
  frame.is_interrupted = false;
  return Step::Caller;
}

Step leaveWithoutTable(Frame &frame, Stack &stack) noexcept {
  const Rule rule = ruleOfFrameRecord(frame, stack);
  if (rule.kind == RuleKind::Unknown)
    return Step::Unknown;
  rules.put(codeOf(frame), rule);
  return leave(frame, rule, stack);
}

// Handles a frame whose address is not a return address according to the cache. If a signal has interrupted this frame,
// its address need not be a return address, so the rule is read again.
Step leaveNoCall(Frame &frame, Stack &stack) noexcept {
  const Rule rule = frame.is_interrupted ? lookUp(frame) : Rule{.kind = RuleKind::NoCall};
  return rule.kind == RuleKind::NoCall ? Step::NoCall : stepSlowly(frame, rule, stack);
}

} // namespace

Step stepSlowly(Frame &frame, const Rule &rule, Stack &stack) noexcept {
  switch (rule.kind) {
  case RuleKind::Plain:
  case RuleKind::Realigned:
    return leave(frame, rule, stack);
  case RuleKind::Plt:
    return leavePlt(frame, rule, stack);
  case RuleKind::Signal:
    return leaveHandler(frame, stack);
  case RuleKind::Outermost:
    return Step::Outermost;
  case RuleKind::NoTable:
    return leaveWithoutTable(frame, stack);
  case RuleKind::NoCall:
    return leaveNoCall(frame, stack);
  case RuleKind::Unknown:
    break;
  }
  return Step::Unknown;
}

} // namespace msleaks::runtime::unwind
