#include "msleaks/runtime/path.h"

#include "ring.h"
#include "system.h"
#include "thread_path.h"

namespace msleaks::runtime {
namespace {

using unwind::rules;

// A thread has two ThreadPaths. The second is for a signal handler that interrupts a walk with the first. A handler
// that interrupts a walk with the second gets no path.
constexpr unsigned kPathsOfThread = 2;

uint64_t bytesOf(uint32_t capacity) noexcept { return kPathsOfThread * ThreadPath::bytesFor(capacity); }

ThreadPath *nestedIn(ThreadPath *path) noexcept {
  return reinterpret_cast<ThreadPath *>(reinterpret_cast<char *>(path) + ThreadPath::bytesFor(path->capacity));
}

ThreadPath *makeThreadPath() noexcept {
  const ErrnoKept kept;
  const uint32_t wanted = session.control->flags.call_stack_depth;
  const uint32_t capacity = wanted < 1 ? 1 : wanted < abi::kMaxPathDepth ? wanted : abi::kMaxPathDepth;
  auto *path = static_cast<ThreadPath *>(mapAnonymous(bytesOf(capacity)));
  if (path == nullptr)
    return nullptr;
  path->capacity = capacity;
  nestedIn(path)->capacity = capacity;
  return path;
}

PathTree *makeTree() noexcept {
  const ArenaHeld held;
  Arena *arena = held.arena();
  return arena != nullptr ? pathTreeOf(*arena) : nullptr;
}

uint64_t generationNow() noexcept { return __atomic_load_n(&__msl_process.state, __ATOMIC_RELAXED); }

// Whether no walk uses this ThreadPath, and its frames belong to this process and to code that is still loaded.
bool isReady(const ThreadPath *path, uint64_t epoch) noexcept {
  return path != nullptr && !path->busy && path->epoch == epoch && path->generation == generationNow() &&
         !unwind::RuleCache::isUnloading(epoch);
}

void forget(ThreadPath &path, uint64_t epoch) noexcept {
  path.count = 0;
  if (path.recent != nullptr)
    path.recent->forget();
  path.epoch = epoch;
  path.generation = generationNow();
}

// Whether the session asks for a path to this site. Only an attached process knows this.
bool isWanted(uint32_t site) noexcept {
  const uint32_t enabled = enabledWord();
  return site != 0 ? hasPath(enabled, site) : (enabled & abi::kPathsOfCallers) != 0;
}

// Returns the ThreadPath for a new walk, or null if no path can be computed now.
[[gnu::noinline, gnu::cold]] ThreadPath *prepare(Thread &thread, uint64_t epoch, uint32_t site) noexcept {
  ensureAttached(thread);
  if (!isWanted(site) || __msl_process.arena == nullptr || thread.ended)
    return nullptr;
  if (thread.path == nullptr)
    thread.path = makeThreadPath();
  ThreadPath *path = thread.path;
  if (path != nullptr && path->busy)
    path = nestedIn(path);
  if (path == nullptr || path->busy || (treeOf(generationNow()) == nullptr && makeTree() == nullptr))
    return nullptr;
  if (!isReady(path, epoch))
    forget(*path, epoch);
  return path;
}

// Returns the ThreadPath for a walk, or null if no path can be computed now.
[[gnu::always_inline]] inline ThreadPath *readyPath(Thread &thread, uint64_t epoch, uint32_t site) noexcept {
  return isReady(thread.path, epoch) ? thread.path : prepare(thread, epoch, site);
}

// Returns the node for a path that also contains this thread's calls of Python code, or `node` if there are none. A
// thread may have the state of another thread, or none, unless it evaluates code now. A signal handler may have
// interrupted the interpreter while it changed its list of calls.
uint32_t withPython(ThreadPath &path, PathTree &tree, uint32_t node) noexcept {
  return node >= abi::kFirstPath && !path.in_handler && tree.evaluates(node) && python::isKnown()
             ? python::joined(path.python, path.generation, tree, node)
             : node;
}

// Returns the node for a site in instrumented code, as a child of `node`.
uint32_t withSite(const ThreadPath &path, PathTree &tree, uint32_t node, uint32_t site) noexcept {
  if (const uint32_t known = tree.find(node, keyOfSite(site)); known != 0)
    return known;
  if (tree.refuses())
    return 0;
  const ArenaHeld held;
  return held && treeOf(path.generation) != nullptr
             ? tree.add(*__msl_process.arena, node, keyOfSite(site), abi::kImageOfSite)
             : 0;
}

// Whether the stack has room for a walk. The stack of a signal handler may be as small as 4 KiB, and the kernel uses
// most of it. A walk that reads new unwind rules needs up to 2.1 KiB. If the last path was on this stack, the stack is
// not checked again.
bool hasRoomOnStack(const ThreadPath &path, uint64_t stack_pointer) noexcept {
  constexpr uint64_t kMost = 2304;
  if (path.stack.holds(stack_pointer - sizeof(uint64_t)))
    return true;
  if (!mayCallKernel())
    return false;
  const ErrnoKept kept;
  stack_t stack;
  return callKernel(SYS_sigaltstack, nullptr, &stack) != 0 || (stack.ss_flags & SS_ONSTACK) == 0 ||
         stack_pointer - reinterpret_cast<uint64_t>(stack.ss_sp) >= kMost;
}

struct Wish {
  unwind::Frame frame; // frame of the innermost call
  uint64_t from = 0;   // return address of the path's innermost call; 0 = the call of `frame`
  uint32_t site = 0;   // site to add inside the innermost call; 0 = none
};

// Returns the node of the path, or 0 if the path has no number. Walks the stack if the path is not known.
uint32_t take(ThreadPath &path, const Wish &wish) noexcept {
  PathTree *tree = treeOf(path.generation);
  if (tree == nullptr)
    return 0;
  path.busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  unwind::Frame frame = wish.frame;
  const bool has_call = wish.from == 0 || findCall(path, wish.from, frame);
  const uint32_t last = has_call ? lastPath(path, frame) : 0;
  const uint32_t recent = has_call && last == 0 ? recentPath(path, frame) : 0;
  uint32_t native = last != 0 ? last : recent;
  if (native != 0)
    path.in_handler = false; // no path that has left a handler is stored
  else if (has_call)
    native = takePath(path, *tree, frame);
  const uint32_t joined = withPython(path, *tree, native);
  const uint32_t node = joined != 0 && wish.site != 0 ? withSite(path, *tree, joined, wish.site) : joined;
  if (recent == 0) {
    ++path.version;
    path.site = wish.site;
    path.node = joined == native ? node : 0; // the calls of Python code may change while the stack stays the same
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  path.busy = false;
  return treeOf(path.generation) != nullptr ? node : 0; // if a handler has forked, the node is not valid in the child
}

uint32_t numberOf(const Wish &wish) noexcept {
  Thread &thread = __msl_thread;
  ThreadPath *path = readyPath(thread, rules.epoch(), wish.site);
  const bool possible = path != nullptr && hasRoomOnStack(*path, wish.frame.stack_pointer);
  const uint32_t node = possible ? take(*path, wish) : 0;
  return node != 0 ? abi::kPathSite | node : 0;
}

unwind::Frame frameOf(uint64_t return_address, uint64_t stack_pointer, uint64_t frame_pointer) noexcept {
  return {.address = unwind::stripped(return_address), .stack_pointer = stack_pointer, .frame_pointer = frame_pointer};
}

// Returns the number of the path, or the site, or the number of the caller.
uint32_t pathOrSite(const Wish &wish, uint64_t caller) noexcept {
  const uint32_t path = numberOf(wish);
  if (path != 0) [[likely]]
    return path;
  return wish.site != 0 ? wish.site : callerSite(caller);
}

// Does what __msl_path does, by a walk. The function is not inlined, so __msl_path needs no room on the stack.
[[gnu::noinline]] uint32_t walkedPath(uint64_t return_address, uint64_t stack_pointer, uint64_t frame_pointer,
                                      uint32_t site) noexcept {
  return pathOrSite({.frame = frameOf(return_address, stack_pointer, frame_pointer), .from = 0, .site = site},
                    return_address);
}

// Whether this function belongs to the interpreter of Python.
bool isOfPython(const void *function) noexcept {
  const Arena *arena = __msl_process.arena;
  if (arena == nullptr || !python::isKnown())
    return false;
  const uint32_t image = knownImageAt(*arena, reinterpret_cast<uint64_t>(function));
  return image != 0 && image == knownImageAt(*arena, python::python.symbols.evaluate);
}

} // namespace

void endPaths(Thread &thread) noexcept {
  ThreadPath *path = thread.path;
  if (path == nullptr || path->busy)
    return;
  thread.path = nullptr;
  for (const ThreadPath *each : {path, nestedIn(path)}) {
    if (each->python != nullptr)
      unmapOwn(each->python);
    if (each->recent != nullptr)
      unmapOwn(each->recent);
  }
  unmapOwn(path);
}

} // namespace msleaks::runtime

using namespace msleaks;
using namespace msleaks::runtime;

uint32_t __msl_path(uint64_t return_address, uint64_t stack_pointer, uint64_t frame_pointer, uint32_t site) noexcept {
  if (const ThreadPath *last = __msl_thread.path; isReady(last, rules.epoch())) [[likely]]
    if (const uint32_t node = samePath(*last, frameOf(return_address, stack_pointer, frame_pointer), site); node != 0)
        [[likely]]
      return abi::kPathSite | node;
  return walkedPath(return_address, stack_pointer, frame_pointer, site);
}

uint32_t __msl_path_to(uint64_t caller, uint64_t return_address, uint64_t stack_pointer, uint64_t frame_pointer,
                       uint32_t site) noexcept {
  return pathOrSite(
      {.frame = frameOf(return_address, stack_pointer, frame_pointer), .from = unwind::stripped(caller), .site = site},
      caller);
}

StartedBy __msl_starts_thread(const void *begin) noexcept {
  // A thread that Python has started may start another one, and so on. Paths contain this many of them.
  constexpr uint32_t kMostGenerations = 4;
  if (!isOfPython(begin))
    return {};
  Thread &thread = __msl_thread;
  ThreadPath *path = readyPath(thread, rules.epoch(), 0);
  PathTree *tree = path != nullptr ? treeOf(path->generation) : nullptr;
  if (tree == nullptr)
    return {};
  const StartedBy by = python::startedBy(path->generation);
  if (by.generations == kMostGenerations)
    return by;
  path->busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const uint32_t node = python::callsNow(path->python, path->generation, *tree);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  path->busy = false;
  return node != 0 ? StartedBy{node, by.generations + 1, path->generation} : StartedBy{};
}

void __msl_thread_begins(const StartedBy &by) noexcept { python::setStartedBy(by); }
