// heaptrack: the files of heaptrack, which are lines of text (docs/formats.md). Each line begins with a letter and a
// space. Numbers are hexadecimal. Strings, calls, traces and kinds of allocations are numbered from 1 in their order;
// allocations from 0.
#include "analysis/importers/registry.h"
#include "msleaks/abi/session.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline importers {
namespace {

constexpr size_t kMostLineBytes = 1 << 20, kMostEntries = 1 << 26;

// The hexadecimal numbers of a line.
class HexNumbers {
public:
  explicit HexNumbers(std::string_view line) : rest_(line) {}
  std::optional<uint64_t> next() {
    uint64_t number = 0;
    const auto [end, failed] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number, 16);
    if (failed != std::errc())
      return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    if (rest_.starts_with(' '))
      rest_.remove_prefix(1);
    return number;
  }
  std::string_view rest() const { return rest_; }

private:
  std::string_view rest_;
};

class HeaptrackFile {
public:
  HeaptrackFile(std::istream &in, ForeignRun &run)
      : in_(in), run_(run), process_(run.process(1)), line_(kMostLineBytes, '\0') {}
  Result<void> read();

private:
  struct Kind { // allocations of one size and one path
    uint64_t bytes = 0;
    uint32_t site = 0;
    std::vector<uint64_t> alive; // addresses
  };

  bool nextLine();
  bool readLine(char letter, std::string_view text); // false: it is damaged
  bool readVersion(std::string_view text);
  bool readString(std::string_view text);
  bool readCall(HexNumbers numbers);
  bool readTrace(HexNumbers numbers);
  bool readKind(HexNumbers numbers);
  bool allocate(HexNumbers numbers);
  bool free(HexNumbers numbers);
  std::string_view text(uint64_t number) const {
    return number != 0 && number <= strings_.size() ? std::string_view(strings_[number - 1]) : std::string_view();
  }
  // Events with one time stay in their order.
  uint64_t nextTime() { return last_ns_ = std::max(now_ns_, last_ns_ + 1); }

  std::istream &in_;
  ForeignRun &run_;
  ForeignRun::Process &process_;
  std::string line_;
  size_t line_bytes_ = 0;
  bool is_too_long_ = false, has_sizes_ = false;
  uint64_t number_ = 0; // of the line
  std::vector<std::string> strings_;
  std::vector<std::vector<ForeignPaths::Frame>> calls_; // the innermost inlined function first
  std::vector<uint32_t> traces_;                        // nodes of paths
  std::vector<Kind> kinds_;
  uint64_t next_address_ = 4096, now_ns_ = 1, last_ns_ = 0;
};

// Reads a line without its end. A line without an end was cut.
bool HeaptrackFile::nextLine() {
  in_.getline(line_.data(), static_cast<std::streamsize>(line_.size()));
  line_bytes_ = static_cast<size_t>(in_.gcount()) - (in_.good() ? 1 : 0);
  is_too_long_ = in_.fail() && !in_.eof();
  ++number_;
  return in_.good();
}

bool HeaptrackFile::readVersion(std::string_view text) {
  HexNumbers numbers(text);
  const uint64_t version = numbers.next().value_or(0), format = numbers.next().value_or(0);
  constexpr uint64_t kFirstWithSizes = 3; // the first format that writes the sizes of strings
  has_sizes_ = format >= kFirstWithSizes;
  run_.facts.source = fmt::format("heaptrack {}.{}.{}", version >> 16, version >> 8 & 0xff, version & 0xff);
  return true;
}

// A string may contain ends of lines.
bool HeaptrackFile::readString(std::string_view text) {
  uint64_t size = text.size();
  if (has_sizes_) {
    HexNumbers numbers(text);
    const auto told = numbers.next();
    if (!told || *told > kMostLineBytes)
      return false;
    size = *told;
    text = numbers.rest();
  }
  std::string whole(text);
  while (whole.size() < size && nextLine())
    whole += '\n' + line_.substr(0, line_bytes_);
  strings_.push_back(whole.substr(0, size));
  return whole.size() >= size;
}

// i ADDRESS MODULE [FUNCTION FILE LINE]...: a call, and the functions that are inlined there.
bool HeaptrackFile::readCall(HexNumbers numbers) {
  const auto address = numbers.next();
  ForeignCall call;
  call.library = text(numbers.next().value_or(0));
  std::vector<ForeignPaths::Frame> frames;
  for (auto function = numbers.next(); function; function = numbers.next()) {
    call.function = text(*function);
    call.file = text(numbers.next().value_or(0));
    call.line = static_cast<uint32_t>(numbers.next().value_or(0));
    frames.push_back(process_.paths.frameOf(call));
  }
  const std::string unknown = fmt::format("{:#x}", address.value_or(0));
  if (frames.empty()) {
    call.function = unknown;
    frames.push_back(process_.paths.frameOf(call));
  }
  calls_.push_back(std::move(frames));
  return address.has_value();
}

// t CALL TRACE: a call, and the number of the trace around it; 0: there is none.
bool HeaptrackFile::readTrace(HexNumbers numbers) {
  const auto call = numbers.next(), parent = numbers.next();
  if (!call || !parent || *call == 0 || *call > calls_.size() || *parent > traces_.size())
    return false;
  uint32_t node = *parent == 0 ? abi::kPathBegin : traces_[*parent - 1];
  const std::vector<ForeignPaths::Frame> &frames = calls_[*call - 1];
  for (size_t at = frames.size(); at-- > 0;)
    node = process_.paths.nodeOf(node, frames[at]);
  traces_.push_back(node);
  return true;
}

bool HeaptrackFile::readKind(HexNumbers numbers) {
  const auto bytes = numbers.next(), trace = numbers.next();
  if (!bytes || !trace || *trace > traces_.size())
    return false;
  kinds_.push_back({*bytes, *trace == 0 ? 0 : ForeignPaths::siteOf(traces_[*trace - 1]), {}});
  return true;
}

// The file has no addresses.
bool HeaptrackFile::allocate(HexNumbers numbers) {
  const auto number = numbers.next();
  if (!number || *number >= kinds_.size())
    return false;
  Kind &kind = kinds_[*number];
  abi::AllocEvent event{};
  event.header.heap = abi::Heap::Host;
  event.size = kind.bytes;
  event.address = next_address_;
  next_address_ += std::max<uint64_t>(std::min(kind.bytes, UINT64_MAX / 2 - next_address_), 1);
  kind.alive.push_back(event.address);
  run_.add(process_, process_.pid, nextTime(), event, kind.site);
  return true;
}

// The file says which kind was freed, but not which of its blocks. The last one is taken.
bool HeaptrackFile::free(HexNumbers numbers) {
  const auto number = numbers.next();
  if (!number || *number >= kinds_.size())
    return false;
  Kind &kind = kinds_[*number];
  if (kind.alive.empty())
    return true; // it is older than the recording
  abi::FreeEvent event{};
  event.header.heap = abi::Heap::Host;
  event.address = kind.alive.back();
  kind.alive.pop_back();
  run_.add(process_, process_.pid, nextTime(), event);
  return true;
}

bool HeaptrackFile::readLine(char letter, std::string_view text) {
  switch (letter) {
  case 'v':
    return readVersion(text);
  case 'X':
    run_.facts.command = {std::string(text)};
    return true;
  case 'A':
    run_.facts.notes.emplace_back("heaptrack was attached to the program: blocks from before are missing");
    return true;
  case 's':
    return readString(text);
  case 'i':
    return readCall(HexNumbers(text));
  case 't':
    return readTrace(HexNumbers(text));
  case 'a':
    return readKind(HexNumbers(text));
  case '+':
    return allocate(HexNumbers(text));
  case '-':
    return free(HexNumbers(text));
  case 'c':
    now_ns_ = std::min<uint64_t>(HexNumbers(text).next().value_or(0), INT64_MAX / 2'000'000) * 1'000'000;
    return true;
  default:
    return true; // a comment, an RSS, a fact about the machine, a suppression, or a line of a later version
  }
}

Result<void> HeaptrackFile::read() {
  run_.facts.kind = "a file of heaptrack";
  run_.facts.loss =
      "It has times of 10 ms and no addresses. So the order of blocks within 10 ms is exact, but which of "
      "several equal blocks was freed is a guess. It has no threads, types, variables and pointers";
  while (nextLine()) {
    const std::string_view line(line_.data(), line_bytes_);
    const uint64_t number = number_;
    if (line.size() > 2 && line[1] == ' ' && !readLine(line[0], line.substr(2))) {
      if (in_.eof()) {
        run_.markCut();
        break;
      }
      return fail(fmt::format("line {} is damaged", number));
    }
    if (std::max({strings_.size(), calls_.size(), traces_.size(), kinds_.size()}) > kMostEntries)
      return fail(fmt::format("it has more than {} strings, calls or traces", kMostEntries));
  }
  if (is_too_long_)
    return fail(fmt::format("line {} has more than {} bytes", number_, kMostLineBytes));
  if (line_bytes_ != 0)
    run_.markCut();
  return {};
}

bool isHeaptrack(std::string_view beginning) {
  HexNumbers numbers(beginning.substr(std::min<size_t>(beginning.size(), 2)));
  return beginning.starts_with("v ") && numbers.next() && numbers.next() && numbers.rest().starts_with('\n');
}

Result<void> readHeaptrack(std::istream &in, ForeignRun &run) { return HeaptrackFile(in, run).read(); }

} // namespace

MSL_REGISTER_IMPORTER(heaptrack, "files of heaptrack", isHeaptrack, readHeaptrack)

} // namespace msleaks::analysis::inline importers
