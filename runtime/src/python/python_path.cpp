#include "python_path.h"

#include "code_table.h"
#include "line_table.h"
#include "objects.h"
#include "sampled_objects.h"

#include "../own_memory.h"
#include "../ring.h"

#include "msleaks/runtime/note.h"

namespace msleaks::runtime::python {
namespace {

constinit thread_local StartedBy started_by = {};

constexpr uint64_t kMostOffset = UINT32_MAX >> 1; // larger: the code has not begun

constexpr uint64_t keyOf(uint32_t code, uint64_t offset) { return kPythonKey | uint64_t{code} << 32 | offset; }
constexpr uint64_t keyOfLine(uint32_t code, uint32_t line) { return kPythonLineKey | uint64_t{code} << 32 | line; }

int32_t lineOf(const Call &call) noexcept {
  const Layout &layout = python.layout;
  const auto first_line = valueAt<int32_t>(call.code, layout.first_line);
  const uint64_t lines = linesOf(call.code);
  const auto *bytes = reinterpret_cast<const uint8_t *>(lines + layout.bytes_data);
  return lineAt({bytes, valueAt<uint64_t>(lines, layout.bytes_size), first_line}, layout.minor, call.instruction);
}

// The node of a call in a path. `is_refused` = there was no room for a node.
struct Numbered {
  uint32_t node;
  bool is_refused;
};
constexpr Numbered kRefused{0, true};

// Returns the code of a call, and gives a number to new code. The number is 0 if there is no room.
Code codeOf(uint64_t generation, Call &call) noexcept {
  return findOrAdd(
      generation, [&](const CodeTable &codes) { return codes.find(call); },
      [&](CodeTable &codes, Arena &arena) { return codes.add(arena, call); });
}

// The module of the innermost call of a module among these calls, or 0.
uint64_t innermostModule(const Call *calls, uint32_t count) noexcept {
  for (uint32_t i = 0; i < count; ++i)
    if (isOfModule(calls[i].content) && dictOf(selfOf(calls[i])) != 0)
      return selfOf(calls[i]);
  return 0;
}

// The code of the first of these calls, which are innermost first.
Code firstCode(LastCalls &last, Call *calls, uint32_t count) noexcept {
  const Code code = codeOf(last.generation, *calls);
  return code.is_module ? last.modules.of(last.generation, code, *calls, innermostModule(calls + 1, count - 1)) : code;
}

// Gives a number to a new call inside the call of `outer`. A call without a line, such as the begin of a function, has
// the node of the call around it.
[[gnu::noinline, gnu::cold]] Numbered addCall(uint64_t generation, uint32_t outer, const Call &call,
                                              uint32_t code) noexcept {
  if (PathTree *asked = treeOf(generation); asked == nullptr || asked->refuses())
    return kRefused;
  const ArenaHeld held;
  PathTree *tree = held ? treeOf(generation) : nullptr;
  if (tree == nullptr)
    return kRefused;
  const int32_t line = lineOf(call);
  if (line == kNoLine)
    return {outer, false};
  const uint32_t node =
      tree->add(*__msl_process.arena, outer, keyOfLine(code, static_cast<uint32_t>(line)), abi::kImageOfPython);
  const uint64_t key = keyOf(code, call.instruction);
  if (node != 0 && tree->find(outer, key) == 0)
    tree->addKey(outer, key, node);
  return {node, node == 0};
}

Numbered numberOf(uint64_t generation, const PathTree &tree, uint32_t outer, const Call &call,
                  const Code &code) noexcept {
  if (call.instruction > kMostOffset || code.number == 0)
    return {outer, false};
  if (const uint32_t node = tree.find(outer, keyOf(code.number, call.instruction)); node != 0)
    return {node, false};
  return addCall(generation, outer, call, code.number);
}

// Returns how many of the outermost calls are the same as in the last path, among those that have nodes.
uint32_t commonCalls(const LastCalls &last, Call *now, uint32_t count) noexcept {
  const Call *known = last.calls[last.current] + last.total;
  const uint32_t most = count < last.count ? count : last.count;
  uint32_t same = 0;
  while (same < most && isSame(known[-1 - int64_t{same}], now[count - 1 - same]))
    ++same;
  return same;
}

// Returns how many of the outermost calls contain all calls of the user's own code. The calls inside an import matter
// only if they are the user's own.
uint32_t ownCalls(uint64_t generation, Call *now, uint32_t count) noexcept {
  for (uint32_t i = 0; i < count; ++i)
    if (codeOf(generation, now[i]).is_own)
      return count - i;
  return 0;
}

// Returns the node of the innermost of these calls, or of the import that they are in. If there is no room for a node,
// returns a number that is no node.
uint32_t numberCalls(LastCalls &last, const PathTree &tree, uint32_t count) noexcept {
  Call *now = last.calls[last.current ^ 1];
  uint32_t same = commonCalls(last, now, count);
  const bool is_import =
      last.ends_in_import && same != 0 && same == last.count && !codeOf(last.generation, now[0]).is_own;
  uint32_t node = same != 0            ? last.nodes[same - 1]
                  : count == kMaxCalls ? abi::kPathUnknown
                                       : startedBy(last.generation).node;
  last.count = 0; // if a signal handler now ends this function by a longjmp, no half-changed path remains
  last.ends_in_import = is_import;
  for (uint32_t own = UINT32_MAX; same < count && !last.ends_in_import; ++same) {
    Call &call = now[count - 1 - same];
    const Code code = firstCode(last, &call, same + 1);
    const Numbered numbered = numberOf(last.generation, tree, node, call, code);
    if (numbered.is_refused)
      return abi::kPathUnknown;
    last.nodes[same] = node = numbered.node;
    if (code.imports && own == UINT32_MAX)
      own = ownCalls(last.generation, now, count);
    last.ends_in_import = code.imports && same >= own;
  }
  last.current ^= 1;
  last.total = count;
  last.count = same;
  return node;
}

// Whether the first calls that were read really are calls. If not, this Python stores its calls in another way, and no
// more calls are read.
[[gnu::noinline, gnu::cold]] bool prove(const Call *calls, uint32_t count) noexcept {
  uint32_t proved = 0;
  while (proved < count && isCode(calls[proved].code))
    ++proved;
  if (proved == count)
    return true;
  python.layout.minor = 0;
  __msl_note("paths contain no calls of Python code: this Python stores its calls in an unknown way");
  return false;
}

// Returns the number of the path's calls that are inside the innermost evaluation of Python code.
uint64_t callsInside(const PathTree &tree, uint32_t node) noexcept {
  uint64_t calls = 0;
  for (; node >= abi::kFirstPath && !tree.isEvaluation(tree.nodeAt(node)); node = tree.nodeAt(node).parent)
    ++calls;
  return calls;
}

uint32_t joinOf(const LastCalls &last, PathTree &tree, uint32_t node, uint32_t calls) noexcept {
  const uint64_t key = kJoinKey | calls;
  if (const uint32_t known = tree.find(node, key); known != 0)
    return known;
  if (tree.refuses())
    return node;
  const uint64_t inside = callsInside(tree, node);
  const ArenaHeld held;
  if (!held || treeOf(last.generation) == nullptr)
    return node;
  const uint32_t join = tree.add(*__msl_process.arena, node, key | inside << 32, abi::kImageOfJoin);
  if (join != 0 && inside != 0 && tree.find(node, key) == 0)
    tree.addKey(node, key, join);
  return join != 0 ? join : node;
}

// Reads the thread's calls now, into the array for the next calls. Returns no calls if there is no memory for them.
CallsRead readNow(LastCalls *&thread, uint64_t generation) noexcept {
  const uint64_t innermost = innermostFrame();
  if (innermost == 0)
    return {};
  if (thread == nullptr)
    thread = static_cast<LastCalls *>(mapAnonymous(sizeof *thread));
  if (thread == nullptr)
    return {};
  LastCalls &last = *thread;
  if (last.generation != generation) {
    last.total = last.count = last.node = last.path = 0;
    last.joins.forget();
  }
  last.generation = generation;
  const uint32_t inside = last.ends_in_import ? last.total - last.count : 0;
  return readCalls(innermost, last.calls[last.current ^ 1], last.calls[last.current], last.total, inside);
}

bool areProved(const LastCalls &last, const CallsRead &read) noexcept {
  if (read.count == 0)
    return false;
  if (!__atomic_load_n(&python.is_proved, __ATOMIC_RELAXED)) [[unlikely]] {
    if (!prove(last.calls[last.current ^ 1], read.count))
      return false;
    __atomic_store_n(&python.is_proved, true, __ATOMIC_RELAXED);
  }
  return true;
}

// Returns the node of the innermost of the calls that were read, or 0.
uint32_t nodeOf(LastCalls &last, const PathTree &tree, const CallsRead &read) noexcept {
  if (read.are_same && last.node != 0)
    return last.node;
  last.node = 0; // if a signal handler ends numberCalls() by a longjmp, the node is not known
  const uint32_t calls = numberCalls(last, tree, read.count);
  return last.node = calls < abi::kFirstPath ? 0 : calls;
}

} // namespace

StartedBy startedBy(uint64_t generation) noexcept {
  return started_by.process == generation ? started_by : StartedBy{};
}

void setStartedBy(const StartedBy &by) noexcept { started_by = by; }

uint32_t joined(LastCalls *&thread, uint64_t generation, PathTree &tree, uint32_t node) noexcept {
  const CallsRead read = readNow(thread, generation);
  if (thread == nullptr)
    return node;
  LastCalls &last = *thread;
  if (read.are_same && last.path == node) [[likely]]
    return last.join;
  if (!areProved(last, read))
    return node;
  if (!__atomic_load_n(&python.are_objects_decided, __ATOMIC_RELAXED)) [[unlikely]]
    sampleObjects();
  last.path = 0;
  const uint32_t calls = nodeOf(last, tree, read);
  if (calls == 0)
    return node;
  last.join = last.joins.find(node, calls);
  if (last.join == 0) {
    last.join = joinOf(last, tree, node, calls);
    if (last.join != node)
      last.joins.keep(node, calls, last.join);
  }
  last.path = node;
  return last.join;
}

uint32_t callsNow(LastCalls *&thread, uint64_t generation, PathTree &tree) noexcept {
  const CallsRead read = readNow(thread, generation);
  if (thread == nullptr || !areProved(*thread, read))
    return 0;
  thread->path = 0;
  return nodeOf(*thread, tree, read);
}

} // namespace msleaks::runtime::python
