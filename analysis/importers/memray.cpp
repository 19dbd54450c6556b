// memray: the files .bin of memray, which have a record for each allocation (docs/formats.md).
#include "analysis/importers/python_lines.h"
#include "analysis/importers/registry.h"
#include "analysis/importers/unpacked_stream.h"
#include "msleaks/abi/session.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace msleaks::analysis::inline importers {
namespace {

constexpr std::string_view kMemrayMagic("memray\0", 7);
constexpr int32_t kFirstVersion = 12, kLastVersion = 13; // 13 adds the search paths of modules
constexpr size_t kMostMemrayText = 1 << 20, kMostTableBytes = 16 << 20;

// The kinds of records that have no flags. The other kinds are recognised by their highest bit.
enum class MemrayRecord : uint8_t {
  Trailer = 1,
  Memory = 2,
  NativeCall = 5,
  MapBegin = 6,
  SegmentHeader = 7,
  Segment = 8,
  ThreadName = 10,
  ContextSwitch = 12,
  CodeObject = 14
};
constexpr uint8_t kFramePop = 16, kObjectRecord = 32, kFramePush = 64, kAllocation = 128;

enum class MemrayAllocator : uint8_t { PymallocFree = 1, LastOfPymalloc = 4, Free = 5, Mmap = 14, Munmap = 15 };

// Values of a file. After the first one that is missing, all are 0.
class MemrayInput {
public:
  explicit MemrayInput(std::istream &in) : in_(*in.rdbuf()) {}
  bool isMissing() const { return missing_; }
  uint8_t byte() {
    const int next = in_.sbumpc();
    missing_ = missing_ || next == std::char_traits<char>::eof();
    return missing_ ? 0 : static_cast<uint8_t>(next);
  }
  template <class Number> Number number() {
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(Number); ++i)
      value |= uint64_t{byte()} << (8 * i);
    return static_cast<Number>(value);
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t next = byte();
      value |= uint64_t{next & 0x7fu} << shift;
      if (next < 0x80)
        return value;
    }
    missing_ = true;
    return 0;
  }
  int64_t signedVarint() {
    const uint64_t value = varint();
    return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }
  // Adds the difference in the file to the last value.
  uint64_t next(uint64_t &last) { return last += static_cast<uint64_t>(signedVarint()); }
  std::string text() {
    std::string text;
    for (char next; (next = static_cast<char>(byte())) != '\0' && !missing_; text += next)
      missing_ = missing_ || text.size() == kMostMemrayText;
    return text;
  }
  std::string bytes(uint64_t size) {
    missing_ = missing_ || size > kMostTableBytes;
    std::string bytes(missing_ ? 0 : static_cast<size_t>(size), '\0');
    missing_ = missing_ || in_.sgetn(bytes.data(), static_cast<std::streamsize>(bytes.size())) !=
                               static_cast<std::streamsize>(bytes.size());
    return bytes;
  }

private:
  std::streambuf &in_;
  bool missing_ = false;
};

class MemrayFile {
public:
  MemrayFile(std::istream &in, ForeignRun &run) : in_(in), run_(run) {}
  Result<void> read();

private:
  struct CodeObject {
    std::string function, file, lines;
    uint64_t first_line = 0;
  };
  struct Thread {
    std::vector<uint32_t> stack; // nodes of paths, the outermost first
  };
  using Place = std::pair<uint64_t, int64_t>; // number of a code object, and offset of the instruction

  Result<void> readHeader();
  bool readRecord(uint8_t first); // false: the kind is not known
  void readCodeObject();
  void readSegments();
  void pushFrame();
  void readAllocation(uint8_t first);
  uint64_t readAddress(unsigned cached);
  void addBlock(abi::Heap, uint64_t address, uint64_t size);
  void addFree(abi::Heap, uint64_t address, uint64_t size);
  ForeignPaths::Frame frameOf(const Place &);
  // Events with one time stay in their order.
  uint64_t nextTime() { return last_ns_ = std::max(now_ns_, last_ns_ + 1); }

  MemrayInput in_;
  ForeignRun &run_;
  ForeignRun::Process *process_ = nullptr;
  uint32_t python_ = 0;
  bool has_native_ = false, is_ended_ = false;
  uint64_t start_ms_ = 0, main_thread_ = 0, skipped_frames_ = 0, now_ns_ = 0, last_ns_ = 0;
  uint64_t thread_ = 0, last_address_ = 0, last_line_ = 0, last_native_ = 0, last_instruction_ = 0;
  std::array<uint64_t, 15> recent_{}; // addresses, the newest first
  std::unordered_map<uint64_t, CodeObject> code_;
  std::map<Place, ForeignPaths::Frame> frames_;
  std::unordered_map<uint64_t, Thread> threads_;
  std::unordered_map<uint64_t, abi::Heap> alive_;
};

Result<void> MemrayFile::readHeader() {
  for (const char wanted : kMemrayMagic)
    if (in_.byte() != static_cast<uint8_t>(wanted))
      return fail("it is no file of memray");
  const auto version = in_.number<int32_t>();
  if (version < kFirstVersion || version > kLastVersion)
    return fail(fmt::format("it has version {} of memray's format. msleaks reads {} and {} (memray 1.19 and 1.20)",
                            version, kFirstVersion, kLastVersion));
  python_ = in_.number<uint32_t>();
  has_native_ = in_.byte() != 0;
  const bool is_aggregated = in_.byte() != 0;
  in_.number<uint64_t>(); // allocations
  in_.number<uint64_t>(); // frames
  start_ms_ = std::min<uint64_t>(in_.number<uint64_t>(), INT64_MAX / 2'000'000);
  in_.number<uint64_t>(); // end
  const std::string command = in_.text();
  const auto pid = in_.number<uint32_t>();
  main_thread_ = in_.number<uint64_t>();
  skipped_frames_ = in_.number<uint64_t>();
  const auto settings = in_.bytes(3); // Python's allocator, and what was recorded
  if (version == kLastVersion) {
    in_.text(); // the folder of the standard library
    for (int list = 0; list < 2; ++list)
      while (!in_.text().empty()) {
      }
  }
  if (in_.isMissing())
    return fail("it was cut");
  if (is_aggregated)
    return fail("memray wrote it with --aggregate, so it has no events. Record without this option");
  run_.facts.source = fmt::format("memray {}", version);
  run_.facts.kind = "a file of memray";
  run_.facts.loss = "It has times of 10 ms, but the exact order of blocks. It has no types, variables and pointers";
  run_.facts.start_realtime_ns = start_ms_ * 1'000'000;
  if (!command.empty())
    run_.facts.command = {command};
  if (has_native_)
    run_.facts.notes.emplace_back("calls of C are left out: the file has only their addresses");
  process_ = &run_.process(pid);
  now_ns_ = run_.facts.start_realtime_ns + 1;
  return {};
}

void MemrayFile::readCodeObject() {
  const uint64_t number = in_.varint();
  CodeObject &code = code_[number];
  code.function = in_.text();
  code.file = in_.text();
  code.first_line = in_.next(last_line_);
  code.lines = in_.bytes(in_.varint());
}

// The addresses of libraries, which only calls of C need.
void MemrayFile::readSegments() {
  in_.text();
  uint64_t segments = in_.varint();
  in_.number<uint64_t>();
  for (; segments > 0 && !in_.isMissing(); --segments) {
    in_.bytes(1 + sizeof(uint64_t));
    in_.varint();
  }
}

ForeignPaths::Frame MemrayFile::frameOf(const Place &place) {
  const auto [found, is_new] = frames_.try_emplace(place);
  if (!is_new)
    return found->second;
  const auto code = code_.find(place.first);
  ForeignCall call;
  call.is_python = true;
  if (code != code_.end()) {
    call.function = code->second.function;
    call.file = code->second.file;
    const auto first = static_cast<int64_t>(code->second.first_line);
    if (place.second >= 0)
      call.line =
          lineOfInstruction(python_, code->second.lines, static_cast<uint64_t>(place.second), first).value_or(0);
  }
  return found->second = process_->paths.frameOf(call);
}

// memray's own frames are the outermost ones of the main thread.
void MemrayFile::pushFrame() {
  const uint64_t code = in_.varint();
  const int64_t instruction = in_.signedVarint();
  std::vector<uint32_t> &stack = threads_[thread_].stack;
  const bool is_skipped = thread_ == main_thread_ && stack.size() < skipped_frames_;
  const uint32_t around = stack.empty() ? abi::kPathBegin : stack.back();
  stack.push_back(is_skipped ? abi::kPathBegin : process_->paths.nodeOf(around, frameOf({code, instruction})));
}

// `cached`: the place of the address among the recent ones; 15: it is a new one.
uint64_t MemrayFile::readAddress(unsigned cached) {
  if (cached < recent_.size())
    return recent_[cached];
  const uint64_t address = in_.next(last_address_) << 3;
  std::move_backward(recent_.begin(), recent_.end() - 1, recent_.end());
  return recent_[0] = address;
}

void MemrayFile::addBlock(abi::Heap heap, uint64_t address, uint64_t size) {
  abi::AllocEvent event{};
  event.header.heap = heap;
  event.address = address;
  event.size = size;
  const std::vector<uint32_t> &stack = threads_[thread_].stack;
  if (heap != abi::Heap::Mapping)
    alive_[address] = heap;
  run_.add(*process_, process_->pid, nextTime(), event, stack.empty() ? 0 : ForeignPaths::siteOf(stack.back()));
}

// A free without a block belongs to a block that is older than the recording.
void MemrayFile::addFree(abi::Heap heap, uint64_t address, uint64_t size) {
  if (heap != abi::Heap::Mapping) {
    const auto block = alive_.find(address);
    if (block == alive_.end() || block->second != heap)
      return;
    alive_.erase(block);
  }
  abi::FreeEvent event{};
  event.header.heap = heap;
  event.address = address;
  event.size = size;
  run_.add(*process_, process_->pid, nextTime(), event);
}

// The byte is 1ppppaaa: the place of the address among the recent ones, and the allocator; 0: it follows.
void MemrayFile::readAllocation(uint8_t first) {
  const uint64_t address = readAddress(first >> 3 & 15);
  const auto allocator = static_cast<MemrayAllocator>((first & 7) != 0 ? first & 7 : in_.byte());
  const abi::Heap heap = allocator <= MemrayAllocator::LastOfPymalloc ? abi::Heap::Pool
                         : allocator == MemrayAllocator::Mmap || allocator == MemrayAllocator::Munmap
                             ? abi::Heap::Mapping
                             : abi::Heap::Host;
  const bool is_free = allocator == MemrayAllocator::PymallocFree || allocator == MemrayAllocator::Free;
  if (is_free)
    return addFree(heap, address, 0);
  if (has_native_)
    in_.next(last_native_);
  const uint64_t size = in_.varint();
  if (in_.isMissing())
    return;
  allocator == MemrayAllocator::Munmap ? addFree(heap, address, size) : addBlock(heap, address, size);
}

bool MemrayFile::readRecord(uint8_t first) {
  if (first >= kAllocation)
    return readAllocation(first), true;
  if (first >= kFramePush)
    return pushFrame(), true;
  if (first >= kObjectRecord) { // an object of Python begins or ends
    readAddress(first >> 1 & 15);
    if (has_native_ && (first & 1) != 0)
      in_.next(last_native_);
    return true;
  }
  if (first >= kFramePop) {
    std::vector<uint32_t> &stack = threads_[thread_].stack;
    stack.resize(stack.size() - std::min<size_t>(stack.size(), (first & 15u) + 1));
    return true;
  }
  switch (static_cast<MemrayRecord>(first)) {
  case MemrayRecord::Trailer:
    return is_ended_ = true;
  case MemrayRecord::Memory:
    in_.varint(); // resident bytes
    now_ns_ = (start_ms_ + std::min<uint64_t>(in_.varint(), INT64_MAX / 2'000'000)) * 1'000'000;
    return true;
  case MemrayRecord::NativeCall:
    in_.next(last_instruction_);
    in_.next(last_native_);
    return true;
  case MemrayRecord::MapBegin:
    return true;
  case MemrayRecord::SegmentHeader:
    return readSegments(), true;
  case MemrayRecord::ThreadName:
    return in_.text(), true;
  case MemrayRecord::ContextSwitch:
    thread_ = in_.number<uint64_t>();
    return true;
  case MemrayRecord::CodeObject:
    return readCodeObject(), true;
  case MemrayRecord::Segment: // only behind its header
    break;
  }
  return false;
}

// A file without a trailer was cut. memray makes its files longer in steps, so such a file has zeros at its end.
Result<void> MemrayFile::read() {
  MSL_TRY(readHeader());
  while (!is_ended_) {
    const uint8_t first = in_.byte();
    if (in_.isMissing() || first == 0)
      break;
    if (!readRecord(first))
      return fail(fmt::format("it has a record of the unknown kind {}", first));
  }
  if (!is_ended_)
    run_.markCut();
  return {};
}

bool isMemray(std::string_view beginning) {
  return beginning.starts_with(kMemrayMagic) || (!kUnpacksLz4 && beginning.starts_with(kLz4Magic));
}

Result<void> readMemray(std::istream &in, ForeignRun &run) {
  if (!kUnpacksLz4 && in.peek() == kLz4Magic.front())
    return fail("it is packed by LZ4, and this msleaks was built without liblz4. Record with memray run --no-compress");
  return MemrayFile(in, run).read();
}

} // namespace

MSL_REGISTER_IMPORTER(memray, "files of memray", isMemray, readMemray)

} // namespace msleaks::analysis::inline importers
