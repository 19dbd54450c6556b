#include "thread_path.h"

#include "image.h"
#include "python/late_python.h"
#include "ring.h"
#include "system.h"

namespace msleaks::runtime {
namespace {

using unwind::Frame;
using unwind::Step;

// Whether the stack still contains the frame's return address and, if frame_matters is set, the frame pointer.
bool isUnchanged(const PathFrame &frame) noexcept {
  return frame.address_at != 0 && unwind::stripped(unwind::wordAt(frame.address_at)) == frame.address &&
         (!frame.frame_matters || frame.frame_at == 0 || unwind::wordAt(frame.frame_at) == frame.frame_pointer);
}

// Whether `frame` and all calls around it are the same as in the last path, so that the walk can end here. `candidates`
// is the number of frames of the last path that may still match. The function lowers it. If the result is true,
// `candidates` is the number of matching frames.
bool joinsAt(const ThreadPath &path, const Frame &frame, uint32_t &candidates) noexcept {
  while (candidates != 0 && path.frames()[candidates - 1].stack_pointer < frame.stack_pointer)
    --candidates;
  if (candidates == 0 || !isSame(path.frames()[candidates - 1], frame))
    return false;
  if (areUnchanged(path, path.frames()[candidates - 1].checks)) [[likely]]
    return true;
  while (--candidates > 1 && isUnchanged(path.frames()[candidates - 1]))
    ;
  return false;
}

// Returns the stored frame with the values and places that this walk has read.
PathFrame joined(PathFrame known, const Frame &frame) noexcept {
  known.frame_pointer = frame.frame_pointer;
  known.address_at = frame.address_at;
  known.frame_at = frame.frame_at;
  known.used_inner_frame = frame.used_frame_pointer;
  return known;
}

struct Walk {
  uint32_t walked = 0; // number of new frames in ThreadPath::walked(), innermost first
  uint32_t joined = 0; // number of the last path's frames that are reused
  Step end = Step::Caller;
  bool left_handler = false;
};

Walk walk(ThreadPath &path, Frame frame, uint32_t candidates) noexcept {
  Walk done;
  for (;;) {
    if (joinsAt(path, frame, candidates)) {
      path.frames()[candidates - 1] = joined(path.frames()[candidates - 1], frame);
      done.joined = candidates;
      return done;
    }
    if (done.walked == path.capacity)
      return done;
    path.walked()[done.walked++] = {.address = frame.address,
                                    .stack_pointer = frame.stack_pointer,
                                    .frame_pointer = frame.frame_pointer,
                                    .address_at = frame.address_at,
                                    .frame_at = frame.frame_at,
                                    .node = 0,
                                    .checks = 0,
                                    .frame_matters = false,
                                    .used_inner_frame = frame.used_frame_pointer};
    done.end = unwind::step(frame, path.stack);
    if (done.end == Step::NoCall && done.walked > 1)
      --done.walked;
    if (done.end != Step::Caller)
      return done;
    if (frame.is_interrupted) { // the next frames may be on another stack
      done.left_handler = true;
      candidates = 0;
    }
  }
}

// Whether the reused frames of the last path and the new frames form a correct path. A path of more than `capacity`
// calls is cut. If frames of a cut path are reused, the new path must also have exactly `capacity` frames.
bool fits(const ThreadPath &path, const Walk &done) noexcept {
  const uint32_t total = done.joined + done.walked;
  return done.joined == 0 || (path.cut ? total == path.capacity : total <= path.capacity);
}

// Sets frame_matters of the new frames, from the outermost frame inwards. The frame pointer of a frame matters if an
// outer call was found by it.
void findWhatMatters(ThreadPath &path, const Walk &done) noexcept {
  const PathFrame *outer = done.joined != 0 ? &path.frames()[done.joined - 1] : nullptr;
  for (uint32_t left = done.walked; left-- > 0;) {
    PathFrame &frame = path.walked()[left];
    frame.frame_matters =
        outer != nullptr && (outer->used_inner_frame || (outer->frame_at == 0 && outer->frame_matters));
    outer = &frame;
  }
}

constexpr uint64_t kNeverZero = 1;

// Appends the checks of one call to the list. The outermost call comes first. So the checks of a call follow the checks
// of all calls around it.
uint32_t addChecks(StackCheck *checks, uint32_t count, const PathFrame &frame) noexcept {
  if (frame.address_at == 0) {
    checks[count++] = {reinterpret_cast<uint64_t>(&kNeverZero), 0};
    return count;
  }
  checks[count++] = {frame.address_at, unwind::wordAt(frame.address_at)};
  if (frame.frame_matters && frame.frame_at != 0)
    checks[count++] = {frame.frame_at, frame.frame_pointer};
  return count;
}

// Stores the new path: appends the new frames to the reused frames of the last path.
void keep(ThreadPath &path, const Walk &done) noexcept {
  PathFrame *frames = path.frames();
  const uint32_t count = done.joined + done.walked;
  for (uint32_t i = 0; i < done.walked; ++i)
    frames[count - 1 - i] = path.walked()[i];
  for (uint32_t i = done.joined != 0 ? done.joined : 1; i < count; ++i)
    frames[i].checks = addChecks(path.checks(), frames[i - 1].checks, frames[i - 1]);
  path.count = count;
}

// Makes the store of recent paths, if the thread takes so many paths that the store may save time.
[[gnu::noinline, gnu::cold]] void makeRecent(ThreadPath &path) noexcept {
  constexpr uint32_t kMany = 4096;
  if (++path.walks % kMany != 0)
    return;
  const ErrnoKept kept;
  auto *recent = static_cast<RecentPaths *>(mapAnonymous(sizeof(RecentPaths)));
  if (recent != nullptr)
    recent->forget();
  path.recent = recent;
}

// Stores the last path among the recent paths, too.
void keepRecent(ThreadPath &path, uint32_t node) noexcept {
  if (path.recent == nullptr) [[unlikely]]
    makeRecent(path);
  if (path.recent == nullptr)
    return;
  const PathFrame &innermost = path.frames()[path.count - 1];
  path.recent->keep(innermost, path.checks(), innermost.checks, node);
}

// The progress while new calls get node numbers, from the outermost call inwards.
struct Numbering {
  uint32_t left;   // number of calls without a node
  uint32_t node;   // node of the last call with a number
  bool is_refused; // there was no room for a node
};

uint32_t imageAt(Arena &arena, const ImagePlace &place) noexcept {
  return place.definition.end != 0 ? numberOf(arena, place) : 0;
}

// Gives numbers to calls until the image of a call is not known. `place` is the image of the next call; null = it was
// not looked up.
void numberKnown(ThreadPath &path, const ImagePlace *place, Numbering &numbering) noexcept {
  const ArenaHeld held;
  PathTree *tree = held ? treeOf(path.generation) : nullptr;
  numbering.is_refused = tree == nullptr;
  for (; !numbering.is_refused && numbering.left != 0; place = nullptr) {
    Arena &arena = *__msl_process.arena;
    PathFrame &frame = path.walked()[numbering.left - 1];
    const uint32_t image = place != nullptr ? imageAt(arena, *place) : knownImageAt(arena, frame.address);
    if (image == 0 && place == nullptr)
      return;
    frame.node = tree->isPartOfImage(numbering.node, image) ? numbering.node
                                                            : tree->add(arena, numbering.node, frame.address, image);
    numbering.node = frame.node;
    numbering.is_refused = frame.node == 0;
    --numbering.left;
  }
}

// Gives numbers to new calls, and asks the loader for their images. The runtime's lock is released first, since the
// loader acquires its own lock. Otherwise there could be a deadlock: a callback of dl_iterate_phdr holds the loader's
// lock, allocates, and waits for the runtime's lock.
[[gnu::noinline, gnu::cold]] uint32_t numberNew(ThreadPath &path, uint32_t left, uint32_t node) noexcept {
  if (PathTree *asked = treeOf(path.generation); asked == nullptr || asked->refuses())
    return 0;
  const ErrnoKept kept;
  Numbering numbering{left, node, false};
  numberKnown(path, nullptr, numbering);
  while (!numbering.is_refused && numbering.left != 0) {
    ImagePlace place{};
    if (findImage(reinterpret_cast<const void *>(path.walked()[numbering.left - 1].address), place))
      python::searchIn(place);
    numberKnown(path, &place, numbering);
  }
  return numbering.is_refused ? 0 : numbering.node;
}

// Looks up the node of each new call, from the outermost call inwards. `outer` is the node of the call around the
// outermost new call.
uint32_t numberEach(ThreadPath &path, const PathTree &tree, uint32_t walked, uint32_t outer) noexcept {
  uint32_t node = outer;
  for (uint32_t left = walked; left-- > 0;) {
    PathFrame &frame = path.walked()[left];
    frame.node = tree.isPartOf(node, frame.address) ? node : tree.find(node, frame.address);
    if (frame.node == 0) [[unlikely]]
      return numberNew(path, left + 1, node);
    node = frame.node;
  }
  return node;
}

uint64_t hashOf(ThreadPath &path, uint32_t walked, uint32_t outer) noexcept {
  uint64_t hash = outer;
  for (uint32_t i = 0; i < walked; ++i)
    hash = (hash ^ path.walked()[i].address) * 0x9e37'79b9'7f4a'7c15;
  return hash;
}

// Whether the path to `node` consists of the path to `outer` and the new calls. If so, sets the nodes of the calls.
// `node` may be 0, which is no node.
bool isPathTo(ThreadPath &path, const PathTree &tree, uint32_t node, uint32_t walked, uint32_t outer) noexcept {
  for (uint32_t i = 0; i < walked; ++i) {
    PathFrame &frame = path.walked()[i];
    if (node < abi::kFirstPath || tree.nodeAt(node).address != frame.address)
      return false;
    frame.node = node;
    node = tree.nodeAt(node).parent;
  }
  return node == outer;
}

// Whether isPathTo can find this path: each call has a node of its own. A node that calls share has the address of
// their function.
bool canBeGuessed(ThreadPath &path, const PathTree &tree, uint32_t walked) noexcept {
  for (uint32_t i = 0; i < walked; ++i)
    if (const PathFrame &frame = path.walked()[i]; tree.nodeAt(frame.node).address != frame.address)
      return false;
  return true;
}

uint32_t number(ThreadPath &path, PathTree &tree, uint32_t walked, uint32_t outer) noexcept {
  if (walked == 0)
    return outer;
  if (unwind::RuleCache::isUnloading(path.epoch)) [[unlikely]]
    return numberNew(path, walked, outer); // a known node may belong to the library that is being unloaded
  const uint64_t hash = hashOf(path, walked, outer);
  if (const uint32_t guess = tree.guess(hash); isPathTo(path, tree, guess, walked, outer)) [[likely]]
    return guess;
  const uint32_t node = numberEach(path, tree, walked, outer);
  if (node != 0 && canBeGuessed(path, tree, walked))
    tree.keepGuess(hash, node);
  return node;
}

} // namespace

bool findCall(ThreadPath &path, uint64_t return_address, Frame &frame) noexcept {
  constexpr unsigned kHooksOwn = 4;
  if (path.stack.enter(frame.stack_pointer - sizeof(uint64_t)))
    path.count = 0;
  for (unsigned i = 0; frame.address != return_address; ++i)
    if (i == kHooksOwn || unwind::step(frame, path.stack) != Step::Caller)
      return false;
  return true;
}

uint32_t lastPath(const ThreadPath &path, const Frame &frame) noexcept {
  if (!isInnermost(path, path.count, frame))
    return 0;
  const PathFrame &innermost = path.frames()[path.count - 1];
  return areUnchanged(path, innermost.checks) ? innermost.node : 0;
}

// If a recent path comes twice in a row, the second time a walk makes it the last path. samePath() then finds it
// faster.
uint32_t recentPath(ThreadPath &path, const Frame &frame) noexcept {
  if (path.recent == nullptr)
    return 0;
  const uint32_t node = path.recent->find(path.stack, frame);
  if (node == path.recent_node)
    return path.recent_node = 0;
  path.recent_node = node;
  return node;
}

uint32_t takePath(ThreadPath &path, PathTree &tree, const Frame &frame) noexcept {
  ++path.version;
  path.site = 0;
  if (path.stack.enter(frame.stack_pointer - sizeof(uint64_t)))
    path.count = 0;
  Walk done = walk(path, frame, path.count);
  if (!fits(path, done)) [[unlikely]]
    done = walk(path, frame, 0);
  path.in_handler = done.left_handler;
  uint32_t node = done.joined != 0 ? path.frames()[done.joined - 1].node
                                   : (done.end == Step::Outermost ? abi::kPathBegin : abi::kPathUnknown);
  if (done.joined == 0)
    path.cut = done.end == Step::Caller;
  findWhatMatters(path, done);
  path.count = 0; // if a signal handler now ends the walk by a longjmp, no half-changed path remains
  node = number(path, tree, done.walked, node);
  // After NoCall, the path is not stored. Its last word was no return address. If the word later becomes a return
  // address, no check would detect this.
  if (node != 0 && !done.left_handler && done.end != Step::NoCall) {
    keep(path, done);
    keepRecent(path, node);
  }
  return node;
}

} // namespace msleaks::runtime
