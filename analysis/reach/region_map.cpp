#include "analysis/reach/region_map.h"

#include "analysis/places/place.h"
#include "analysis/reach/c_heap.h"
#include "analysis/reach/process_memory.h"

#include <algorithm>
#include <map>
#include <optional>

namespace msleaks::analysis::inline reach {
namespace {

// A function may use this many bytes below its stack pointer.
constexpr uint64_t kRedZone = 128;
// Size of glibc's thread descriptor. It begins at the thread pointer, above the thread-local variables, at the end of
// the stack.
constexpr uint64_t kDescriptorBytes = 4096;

bool isDevice(const std::string &path) {
  return path.starts_with("/dev/") && !path.starts_with("/dev/shm/") && !path.starts_with("/dev/zero");
}

class RegionMap {
public:
  RegionMap(const ProcessMemory &memory, const RegionQuestion &question) : memory_(memory), question_(question) {
    ranges_ = memory.maps();
    for (const MappedRange &range : ranges_)
      if (range.executable && range.path.starts_with('/'))
        images_.try_emplace(range.path);
    for (const MappedRange &range : ranges_)
      if (const auto image = images_.find(range.path); image != images_.end() && range.file_offset == 0)
        if (!image->second) {
          image->second = readImage(memory, range.begin);
          thread_local_bytes_ += image->second->thread_local_bytes;
        }
    findDescriptors();
    findOwnMemory();
  }

  std::vector<MemoryRegion> regions() {
    for (size_t i = 0; i < ranges_.size(); ++i)
      take(i);
    return std::move(regions_);
  }

private:
  void take(size_t i) {
    const MappedRange &range = ranges_[i];
    const bool is_relocated = !range.writable && !range.executable && i + 1 < ranges_.size() &&
                              ranges_[i + 1].writable && ranges_[i + 1].path == range.path &&
                              ranges_[i + 1].begin == range.end; // the loader has filled it, and made it read-only
    if (!range.readable || isDevice(range.path) || isOurs(range.path))
      return;
    if (const auto image = images_.find(range.path); image != images_.end()) {
      if (range.writable || is_relocated)
        add(range, RegionUse::Globals, 0, &range.path);
      return;
    }
    if (!range.writable)
      return;
    if (range.path == "[heap]")
      return add(range, RegionUse::Heap);
    if (range.path.starts_with("[v"))
      return;
    const uint64_t variables_end = endOfVariables(i);
    if (variables_end > range.begin)
      add({range.begin, variables_end, true, true, false, 0, {}}, RegionUse::Globals, 0, &ranges_[i - 1].path);
    if (variables_end < range.end)
      takeOther(i, variables_end);
  }

  bool isOurs(const std::string &path) const {
    return (!question_.session.empty() && path.starts_with(question_.session)) || isOurLibrary(path);
  }

  // Variables without a value in the file follow the other variables. The kernel may put any other mapping directly
  // after them.
  uint64_t endOfVariables(size_t i) const {
    const MappedRange &range = ranges_[i];
    if (i == 0 || !range.isAnonymous() || ranges_[i - 1].end != range.begin || !ranges_[i - 1].writable)
      return range.begin;
    const auto image = images_.find(ranges_[i - 1].path);
    if (image == images_.end())
      return range.begin;
    const uint64_t page = memory_.pageBytes(), end = image->second ? image->second->end : 0;
    return end == 0 ? range.end : std::clamp((end + page - 1) & ~(page - 1), range.begin, range.end);
  }

  void add(const MappedRange &range, RegionUse use, uint32_t tid = 0, const std::string *image = nullptr) {
    MemoryRegion region{range.begin, range.end, use, tid, {}, 0};
    if (image) {
      region.image.path = *image;
      if (const auto &loaded = images_.at(*image)) {
        region.image.build_id = loaded->build_id;
        region.load_bias = loaded->load_bias;
      }
    }
    regions_.push_back(std::move(region));
  }

  bool isBehindGuard(size_t i) const {
    return i > 0 && ranges_[i - 1].end == ranges_[i].begin && !ranges_[i - 1].readable;
  }

  // Takes anonymous memory, or a file's. Every part that is not known to be unused counts as in use.
  void takeOther(size_t i, uint64_t begin) {
    const MappedRange &range = ranges_[i];
    if (isKeptStack(i))
      return;
    parts_ = {{begin, range.end, RegionUse::Other, 0, {}, 0}};
    dead_.reset();
    if (range.isAnonymous())
      markArenas(range);
    for (const ThreadState &thread : question_.threads) {
      if (thread.stack >= range.begin && thread.stack < range.end) {
        const uint64_t in_use = std::max(range.begin, (thread.stack - kRedZone) & ~uint64_t{7});
        mark(in_use, range.end, RegionUse::Stack, thread.tid);
        if (range.path == "[stack]" || isBehindGuard(i))
          dead_ = in_use;
      }
      if (const uint64_t at = thread.thread_pointer; at >= range.begin && at < range.end)
        mark(std::max(range.begin, (at - std::min(at, thread_local_bytes_)) & ~uint64_t{63}),
             std::min(range.end, at + kDescriptorBytes), RegionUse::ThreadLocal, thread.tid);
    }
    for (const ThreadState &thread : question_.threads) // the runtime remembers addresses of recent blocks there, but
                                                        // does not hold these blocks
      if (thread.thread_pointer != 0 && question_.own.bytes != 0)
        cut(question_.own.of(thread.thread_pointer), question_.own.of(thread.thread_pointer) + question_.own.bytes);
    for (const auto &[begin_of_own, end_of_own] : own_memory_)
      cut(begin_of_own, end_of_own);
    for (const MemoryRegion &part : parts_)
      if (!dead_ || part.end > *dead_)
        regions_.push_back(part);
  }

  // Sets the use of a part, and replaces any earlier use.
  void mark(uint64_t begin, uint64_t end, RegionUse use, uint32_t tid) {
    cut(begin, end);
    parts_.push_back({begin, end, use, tid, {}, 0});
    std::sort(parts_.begin(), parts_.end(), [](const auto &a, const auto &b) { return a.begin < b.begin; });
  }

  void cut(uint64_t begin, uint64_t end) {
    std::vector<MemoryRegion> parts;
    for (const MemoryRegion &part : parts_) {
      if (part.begin < begin && begin < part.end)
        parts.push_back({part.begin, begin, part.use, part.tid, {}, 0});
      else if (part.end <= begin || part.begin >= end)
        parts.push_back(part);
      if (part.begin < end && end < part.end)
        parts.push_back({end, part.end, part.use, part.tid, {}, 0});
    }
    parts_ = std::move(parts);
  }

  void markArenas(const MappedRange &range) {
    const uint64_t first = (range.begin + kArenaPartBytes - 1) & ~(kArenaPartBytes - 1);
    for (uint64_t at = first; at < range.end; at += kArenaPartBytes)
      if (const auto part = arenaPartAt(memory_, at))
        mark(at, std::min(range.end, at + part->accessible), RegionUse::Heap, 0);
  }

  bool isTouched(uint64_t address) const {
    const uint64_t page = memory_.pageBytes(), begin = address & ~(page - 1);
    return !memory_.touched(begin, begin + page).empty();
  }

  // Whether this is a stack whose thread has ended. glibc keeps some stacks for later threads.
  bool isKeptStack(size_t i) const {
    const MappedRange &range = ranges_[i];
    if (!tid_offset_ || !range.isAnonymous() || !isBehindGuard(i))
      return false;
    const auto descriptor = descriptorIn(range);
    uint32_t tid = 0;
    return descriptor && memory_.read(*descriptor + *tid_offset_, tid) && !question_.live.contains(tid);
  }

  // Finds the thread descriptor at the end of a stack. The descriptor contains its own address twice.
  std::optional<uint64_t> descriptorIn(const MappedRange &range) const {
    std::vector<uint64_t> words(std::min(range.end - range.begin, kDescriptorBytes) / sizeof(uint64_t));
    const uint64_t begin = range.end - words.size() * sizeof(uint64_t);
    if (!isTouched(begin) || !isTouched(range.end - 1) ||
        !memory_.read(begin, std::as_writable_bytes(std::span(words))))
      return std::nullopt;
    for (size_t i = 0; i + 2 < words.size(); ++i)
      if (const uint64_t at = begin + i * sizeof(uint64_t); words[i] == at && words[i + 2] == at)
        return at;
    return std::nullopt;
  }

  // Finds the offset of the tid in glibc's thread descriptor.
  void findDescriptors() {
#if defined(__x86_64__)
    if (question_.threads.empty())
      return;
    const ThreadState &thread = question_.threads[0];
    uint32_t words[256];
    if (thread.thread_pointer == 0 || !memory_.read(thread.thread_pointer, words))
      return;
    const auto found = std::find(std::begin(words), std::end(words), thread.tid);
    if (found != std::end(words))
      tid_offset_ = static_cast<uint64_t>(found - std::begin(words)) * sizeof(uint32_t);
#endif
  }

  // Finds the memory in which the runtime stores words of stacks and old contents of watched blocks. If the program
  // overwrites this list, the list ends there.
  void findOwnMemory() {
    constexpr size_t kMost = 1 << 16;
    uint64_t at = 0;
    if (question_.own.memory == 0 || !memory_.read(question_.own.memory, at))
      return;
    for (uint64_t head[3]; at != 0 && own_memory_.size() < kMost; at = head[1]) {
      if (!memory_.read(at, head) || head[0] != abi::OwnMemory::kMagic)
        return;
      own_memory_.emplace_back(at, at + head[2]);
    }
  }

  const ProcessMemory &memory_;
  const RegionQuestion &question_;
  std::vector<std::pair<uint64_t, uint64_t>> own_memory_; // memory of the runtime
  std::vector<MappedRange> ranges_;
  std::map<std::string, std::optional<LoadedImage>, std::less<>> images_; // images by path
  uint64_t thread_local_bytes_ = 0;
  std::optional<uint64_t> tid_offset_;
  std::vector<MemoryRegion> regions_, parts_;
  std::optional<uint64_t> dead_; // no byte below this address is in use
};

} // namespace

std::vector<MemoryRegion> regionsOf(const ProcessMemory &memory, const RegionQuestion &question) {
  return RegionMap(memory, question).regions();
}

uint64_t writableBytes(const std::vector<MappedRange> &ranges) {
  uint64_t bytes = 0;
  for (const MappedRange &range : ranges)
    if (range.readable && range.writable && !isDevice(range.path))
      bytes += range.end - range.begin;
  return bytes;
}

bool mayHoldBlocks(const MemoryRegion &region) {
  return region.use != RegionUse::Globals && region.use != RegionUse::Registers;
}

} // namespace msleaks::analysis::inline reach
