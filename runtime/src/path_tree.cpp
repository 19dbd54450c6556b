#include "path_tree.h"

#include "image.h"
#include "python/calls.h"
#include "sandbox_reserve.h"
#include "session.h"
#include "system.h"
#include "unwind/walk.h"

namespace msleaks::runtime {
namespace {

constexpr uint32_t kFirstSlots = 1u << 13;
// Marks the key of a call in an unloaded image. No address of a program has this bit.
constexpr uint64_t kRetired = uint64_t{1} << 63;

bool isUnloading() noexcept { return unwind::RuleCache::isUnloading(unwind::rules.epoch()); }

// Whether calls in constructors and imports have their own nodes. To watch a line, the runtime looks for the line among
// all calls of a path.
bool keepsWholePaths() noexcept {
  return session.control->flags.import_paths == abi::ImportPaths::Whole ||
         session.control->watch.kind == abi::WatchKind::Line;
}

} // namespace

void reservePaths(Arena &arena) noexcept {
  if (PathTree *tree = pathTreeOf(arena))
    tree->reserve(arena);
}

PathTree::Table *PathTree::makeTable(uint32_t slots) noexcept {
  auto *table = static_cast<Table *>(mapAnonymous(sizeof(Table) + uint64_t{slots} * sizeof(Entry)));
  if (table != nullptr)
    table->mask = slots - 1;
  return table;
}

void PathTree::put(Table &table, uint64_t key, uint32_t parent, uint32_t node) noexcept {
  uint32_t slot = slotOf(table, parent, key & ~kRetired);
  while (table[slot].node.load(std::memory_order_relaxed) != 0)
    slot = (slot + 1) & table.mask;
  Entry &entry = table[slot];
  entry.key.store(key, std::memory_order_relaxed);
  entry.parent = parent;
  entry.node.store(node, std::memory_order_release);
  ++table.used;
}

// Makes a larger table if this one would be more than half full. The old table stays mapped, since other threads may
// still read it.
bool PathTree::makeRoom(uint32_t nodes) noexcept {
  const Table &full = *table_.load(std::memory_order_relaxed);
  const uint32_t slots = full.mask + 1;
  if (full.used + nodes <= slots / 2)
    return true;
  Table *larger = makeTable(2 * slots);
  if (larger == nullptr)
    return false;
  for (uint32_t slot = 0; slot < slots; ++slot)
    if (const Entry &entry = full[slot]; entry.node.load(std::memory_order_relaxed) != 0)
      put(*larger, entry.key.load(std::memory_order_relaxed), entry.parent, entry.node.load(std::memory_order_relaxed));
  table_.store(larger, std::memory_order_release);
  return true;
}

// Finds the node of a call in an image that was unloaded and loaded again, and makes the node's key valid again.
uint32_t PathTree::findRetired(uint32_t parent, uint64_t key, uint32_t image) noexcept {
  Table &table = *table_.load(std::memory_order_relaxed);
  for (uint32_t slot = slotOf(table, parent, key);; slot = (slot + 1) & table.mask) {
    Entry &entry = table[slot];
    const uint32_t node = entry.node.load(std::memory_order_relaxed);
    if (node == 0)
      return 0;
    if (entry.key.load(std::memory_order_relaxed) != (key | kRetired) || entry.parent != parent ||
        nodeAt(node).image != image)
      continue;
    entry.key.store(key, std::memory_order_relaxed);
    setFirstChild(parent, key, node);
    return node;
  }
}

// The same, and makes the row. Null: there is no room.
PathTree::FirstChild *PathTree::rowOf(uint32_t node) noexcept {
  std::atomic<FirstChild *> &place = first_children_[node / abi::kPathBlockNodes];
  FirstChild *rows = place.load(std::memory_order_relaxed);
  if (rows == nullptr) {
    rows = static_cast<FirstChild *>(mapAnonymous(abi::kPathBlockNodes * sizeof(FirstChild)));
    if (rows == nullptr)
      return nullptr;
    place.store(rows, std::memory_order_release);
  }
  return rows + node % abi::kPathBlockNodes;
}

// Stores the first child of a node. Another child never replaces it. Only its key changes, when its image is unloaded
// or loaded again. So a reader never sees a node with the key of another node.
void PathTree::setFirstChild(uint32_t parent, uint64_t key, uint32_t node) noexcept {
  FirstChild *first = rowOf(parent);
  const uint32_t has = first != nullptr ? first->node.load(std::memory_order_relaxed) : 0;
  if (first == nullptr || (has != 0 && has != node))
    return;
  first->key.store(key, std::memory_order_relaxed);
  first->node.store(node, std::memory_order_release);
}

// The last quarter of the tree is for calls in the user's own code. So when the other quarters are full, calls of one
// library that follow each other have one node, also outside of constructors and imports.
Inner PathTree::innerOfNew(uint32_t parent, uint64_t key, uint32_t image) const noexcept {
  if (image == 0 || !isAddress(key))
    return Inner::Apart;
  const ImageKind kind = kindOf(*arena_, image);
  if (kind == ImageKind::Library && header_->path_count.load(std::memory_order_relaxed) >= kScarce)
    return Inner::OneLibrary;
  if (keepsWholePaths())
    return Inner::Apart;
  return runtime::innerOf(innerOf(parent), kind,
                          kind == ImageKind::Interpreter && isCallOf(python::python.symbols.import_module, key));
}

bool PathTree::isEvaluation(const abi::PathNode &node) const noexcept {
  const uint64_t evaluate = python::python.symbols.evaluate;
  if (evaluate == 0 || node.image == 0 || node.image > kMaxImages)
    return false;
  const Image &image = arena_->images[node.image - 1];
  if (evaluate - image.begin >= image.end - image.begin)
    return false;
  const uint64_t begin = unwind::beginOfFunction(node.address - 1);
  return begin == evaluate || (begin != 0 && begin == python::python.moved_evaluate);
}

bool PathTree::isPartOf(uint32_t node, uint64_t address) const noexcept {
  const Inner outer = innerOf(node);
  if ((outer != Inner::OneLibrary && outer != Inner::Import) || isUnloading())
    return false;
  const uint32_t image = nodeAt(node).image;
  const Image &nodes = arena_->images[image - 1];
  return address - nodes.begin < nodes.end - nodes.begin && sharesNode(outer, kindOf(*arena_, image));
}

uint32_t PathTree::append(Arena &arena, const abi::PathNode &node) noexcept {
  const uint32_t number = arena.header->path_count.load(std::memory_order_relaxed);
  const uint32_t block = number / abi::kPathBlockNodes;
  if (block >= abi::kMaxPathBlocks)
    return 0;
  if (blocks_[block] == nullptr)
    blocks_[block] = makePathBlock(arena, block);
  if (blocks_[block] == nullptr)
    return 0;
  blocks_[block][number % abi::kPathBlockNodes] = node;
  arena.header->path_count.store(number + 1, std::memory_order_release);
  return number;
}

uint32_t PathTree::appendChild(Arena &arena, const abi::PathNode &node, uint64_t key, Inner inner) noexcept {
  const uint32_t number = append(arena, node);
  if (number == 0)
    return 0;
  const bool is_evaluating = evaluates(node.parent) || isEvaluation(node);
  if (FirstChild *row = inner != Inner::Apart || is_evaluating ? rowOf(number) : nullptr) {
    row->inner.store(inner, std::memory_order_relaxed);
    row->evaluates.store(is_evaluating, std::memory_order_relaxed);
  }
  put(*table_.load(std::memory_order_relaxed), key, node.parent, number);
  return number;
}

void PathTree::reserve(Arena &arena) noexcept {
  constexpr uint32_t kSpareBlocks = 4;
  const uint32_t first = arena.header->path_count.load(std::memory_order_relaxed) / abi::kPathBlockNodes;
  for (uint32_t block = first; block < first + kSpareBlocks && block < abi::kMaxPathBlocks; ++block)
    if (blocks_[block] == nullptr)
      blocks_[block] = makePathBlock(arena, block);
  makeRoom(kSpareBlocks * abi::kPathBlockNodes);
}

bool PathTree::refuses() noexcept {
  if (!pause_.holds())
    return false;
  header_->paths_refused.fetch_add(1, std::memory_order_relaxed);
  return true;
}

uint32_t PathTree::findKnown(uint32_t parent, uint64_t key, uint32_t image) noexcept {
  const uint32_t known = find(parent, key);
  if (known != 0 && (!isAddress(key) || !isUnloading()))
    return known;
  if (known != 0 && nodeAt(known).image == image)
    return known;
  if (known != 0)
    retire(nodeAt(known).image);
  return findRetired(parent, key, image);
}

// A part of a path with one node begins with a function of a library. All calls in this function have the same node.
uint32_t PathTree::add(Arena &arena, uint32_t parent, uint64_t key, uint32_t image) noexcept {
  if (const uint32_t known = findKnown(parent, key, image); known != 0)
    return known;
  const Inner inner = innerOfNew(parent, key, image);
  const uint64_t begin = inner == Inner::OneLibrary ? unwind::beginOfFunction(key - 1) : 0;
  const uint64_t of_node = begin != 0 ? begin + 1 : key; // a reader looks up the byte before a return address
  const bool has_room = makeRoom(2);
  uint32_t number = begin != 0 ? findKnown(parent, of_node, image) : 0;
  if (number == 0 && has_room)
    number = appendChild(arena, {of_node & ~kKindsOfKey, parent, image}, of_node, inner);
  if (number == 0) {
    arena.header->paths_refused.fetch_add(1, std::memory_order_relaxed);
    pause_.begin();
    return 0;
  }
  if (of_node != key && has_room)
    put(*table_.load(std::memory_order_relaxed), key, parent, number);
  setFirstChild(parent, key, number);
  return number;
}

void PathTree::addKey(uint32_t parent, uint64_t key, uint32_t node) noexcept {
  if (!makeRoom(1))
    return;
  put(*table_.load(std::memory_order_relaxed), key, parent, node);
  setFirstChild(parent, key, node);
}

// Hides a row (an entry of the table or a first child) from find(), if the row's call is in this image.
template <class Row> void PathTree::retireOf(uint32_t image, Row &row) const noexcept {
  const uint32_t node = row.node.load(std::memory_order_relaxed);
  if (node != 0 && nodeAt(node).image == image)
    row.key.store(row.key.load(std::memory_order_relaxed) | kRetired, std::memory_order_relaxed);
}

void PathTree::retire(uint32_t image) noexcept {
  Table &table = *table_.load(std::memory_order_relaxed);
  for (uint32_t slot = 0; slot <= table.mask; ++slot)
    retireOf(image, table[slot]);
  for (std::atomic<FirstChild *> &place : first_children_)
    if (FirstChild *row = place.load(std::memory_order_relaxed))
      for (uint32_t parent = 0; parent < abi::kPathBlockNodes; ++parent)
        retireOf(image, row[parent]);
  for (std::atomic<uint32_t> &guess : guesses_)
    guess.store(0, std::memory_order_relaxed);
}

// Returns 0 while a library is being unloaded, since only the loader knows which images exist at that time.
uint32_t knownImageAt(const Arena &arena, uint64_t address) noexcept {
  const uint32_t count = isUnloading() ? 0 : __atomic_load_n(&arena.image_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; ++i) {
    const Image &image = arena.images[i];
    if (address - image.begin < image.end - image.begin && !__atomic_load_n(&image.gone, __ATOMIC_RELAXED))
      return i + 1;
  }
  return 0;
}

PathTree *pathTreeOf(Arena &arena) noexcept {
  if (__msl_process.paths != nullptr)
    return __msl_process.paths;
  auto *tree = static_cast<PathTree *>(mapAnonymous(sizeof(PathTree)));
  PathTree::Table *table = tree != nullptr ? PathTree::makeTable(kFirstSlots) : nullptr;
  if (table == nullptr) {
    if (tree != nullptr)
      unmapOwn(tree);
    return nullptr;
  }
  tree->table_.store(table, std::memory_order_relaxed);
  tree->arena_ = &arena;
  tree->header_ = arena.header;
  arena.header->path_count.store(abi::kFirstPath, std::memory_order_relaxed);
  __atomic_store_n(&__msl_process.paths, tree, __ATOMIC_RELEASE);
  return tree;
}

} // namespace msleaks::runtime
