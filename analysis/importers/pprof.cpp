// pprof: heap profiles in the format profile.proto of pprof, such as those of Go, and of `msleaks export`
// (docs/formats.md).
#include "analysis/base/pprof_fields.h"
#include "analysis/importers/path_sums.h"
#include "analysis/importers/protobuf_reader.h"
#include "analysis/importers/registry.h"
#include "msleaks/abi/session.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline importers {
namespace {

constexpr size_t kMostProfileBytes = size_t{1} << 30;

struct ProfileMapping {
  uint64_t begin = 0, end = 0, offset = 0, file = 0;
};
struct ProfileLine {
  uint64_t function = 0, line = 0;
};
struct ProfileLocation {
  uint64_t mapping = 0, address = 0;
  std::vector<ProfileLine> lines; // the innermost inlined function first
};
struct ProfileFunction {
  uint64_t name = 0, file = 0;
};

// The columns of a sample.
enum ProfileColumn : size_t { AliveCount, AliveBytes, AllCount, AllBytes, ProfileColumns };
struct ProfileColumnName {
  ProfileColumn column;
  std::string_view name;
};
constexpr ProfileColumnName kProfileColumnNames[] = {{AliveCount, "inuse_objects"}, {AliveBytes, "inuse_space"},
                                                     {AllCount, "alloc_objects"},   {AllBytes, "alloc_space"},
                                                     {AliveCount, "objects"},       {AliveBytes, "space"}};

class HeapProfile {
public:
  explicit HeapProfile(ForeignRun &run) : run_(run) {}
  Result<void> read(std::string_view content);

private:
  std::string_view text(uint64_t number) const {
    return number < strings_.size() ? strings_[number] : std::string_view();
  }
  void readTables(std::string_view content);
  void readColumns();
  void readSample(std::string_view message);
  const std::vector<ForeignPaths::Frame> &framesOf(uint64_t location);
  uint32_t siteOf(const std::vector<uint64_t> &locations);
  // Reads the numbers of the message's fields 1 to N.
  template <size_t N> std::array<uint64_t, N + 1> numbersOf(std::string_view message) {
    std::array<uint64_t, N + 1> numbers{};
    ProtobufReader fields(message);
    while (fields.next())
      if (fields.field() <= N)
        numbers[fields.field()] = fields.number();
    damaged_ = damaged_ || fields.isDamaged();
    return numbers;
  }

  ForeignRun &run_;
  ForeignRun::Process *process_ = nullptr;
  std::vector<std::string_view> strings_, samples_;
  std::vector<uint64_t> types_; // names of the columns
  std::unordered_map<uint64_t, ProfileMapping> mappings_;
  std::unordered_map<uint64_t, ProfileLocation> locations_;
  std::unordered_map<uint64_t, ProfileFunction> functions_;
  std::unordered_map<uint64_t, std::vector<ForeignPaths::Frame>> frames_; // by location
  std::array<std::optional<size_t>, ProfileColumns> columns_;
  PathSums sums_;
  bool damaged_ = false;
};

// The tables may follow the samples that use them.
void HeapProfile::readTables(std::string_view content) {
  ProtobufReader profile(content);
  while (profile.next()) {
    const std::string_view message = profile.bytes();
    switch (profile.field()) {
    case pprof_field::SampleType:
      types_.push_back(numbersOf<1>(message)[1]);
      break;
    case pprof_field::Sample:
      samples_.push_back(message);
      break;
    case pprof_field::Mapping: {
      const auto [none, id, begin, end, offset, file] = numbersOf<5>(message);
      mappings_[id] = {begin, end, offset, file};
      break;
    }
    case pprof_field::Location: {
      const auto [none, id, mapping, address] = numbersOf<3>(message);
      ProfileLocation &location = locations_[id] = {mapping, address, {}};
      ProtobufReader fields(message);
      while (fields.next())
        if (fields.field() == 4) {
          const auto line = numbersOf<2>(fields.bytes());
          location.lines.push_back({line[1], line[2]});
        }
      break;
    }
    case pprof_field::Function: {
      const auto [none, id, name, system_name, file] = numbersOf<4>(message);
      functions_[id] = {name != 0 ? name : system_name, file};
      break;
    }
    case pprof_field::StringTable:
      strings_.push_back(message);
      break;
    case pprof_field::TimeNanos:
      run_.facts.start_realtime_ns = std::min<uint64_t>(profile.number(), INT64_MAX);
      break;
    default:
      break;
    }
  }
  damaged_ = damaged_ || profile.isDamaged();
}

void HeapProfile::readColumns() {
  for (size_t column = 0; column < types_.size(); ++column)
    for (const ProfileColumnName &known : kProfileColumnNames)
      if (text(types_[column]) == known.name)
        columns_[known.column] = column;
}

// A location is a call, with a frame for each function that is inlined there.
const std::vector<ForeignPaths::Frame> &HeapProfile::framesOf(uint64_t number) {
  const auto [found, is_new] = frames_.try_emplace(number);
  const auto location = locations_.find(number);
  if (!is_new || location == locations_.end())
    return found->second;
  const auto &[mapping_number, address, lines] = location->second;
  const auto mapping = mappings_.find(mapping_number);
  ForeignCall call;
  call.offset = address + 1;
  if (mapping != mappings_.end()) {
    call.library = text(mapping->second.file);
    if (address >= mapping->second.begin && address < mapping->second.end)
      call.offset = address - mapping->second.begin + mapping->second.offset + 1;
  }
  if (lines.empty() && (address != 0 || !call.library.empty()))
    found->second.push_back(process_->paths.frameOf(call));
  for (const ProfileLine &line : lines) {
    const ProfileFunction function = functions_[line.function];
    call.function = text(function.name);
    call.file = text(function.file);
    call.line = static_cast<uint32_t>(std::min<uint64_t>(line.line, UINT32_MAX));
    call.is_python = call.file.ends_with(".py") || call.file.starts_with('<');
    found->second.push_back(process_->paths.frameOf(call));
  }
  return found->second;
}

uint32_t HeapProfile::siteOf(const std::vector<uint64_t> &locations) {
  uint32_t node = abi::kPathBegin;
  for (size_t i = std::min<size_t>(locations.size(), abi::kMaxPathDepth); i-- > 0;) {
    const std::vector<ForeignPaths::Frame> &frames = framesOf(locations[i]);
    for (size_t at = frames.size(); at-- > 0;)
      node = process_->paths.nodeOf(node, frames[at]);
  }
  return ForeignPaths::siteOf(node);
}

void HeapProfile::readSample(std::string_view message) {
  std::vector<uint64_t> locations, values;
  ProtobufReader fields(message);
  while (fields.next())
    if (fields.field() == 1 || fields.field() == 2)
      fields.forEachNumber([&](uint64_t number) { (fields.field() == 1 ? locations : values).push_back(number); });
  damaged_ = damaged_ || fields.isDamaged();
  // The difference of two profiles has negative values.
  const auto valueOf = [&](ProfileColumn column) -> uint64_t {
    const uint64_t value = columns_[column] && *columns_[column] < values.size() ? values[*columns_[column]] : 0;
    return value > uint64_t{INT64_MAX} ? 0 : value;
  };
  // A sampled count may be rounded to 0.
  const auto sumOf = [](uint64_t bytes, uint64_t count) {
    return BlockSum{bytes, bytes != 0 && count == 0 ? 1 : count};
  };
  const BlockSum all = sumOf(valueOf(AllBytes), valueOf(AllCount)),
                 alive = sumOf(valueOf(AliveBytes), valueOf(AliveCount));
  const bool has_freed = all.count > alive.count && all.bytes >= alive.bytes;
  sums_.add(siteOf(locations), alive,
            has_freed ? BlockSum{all.bytes - alive.bytes, all.count - alive.count} : BlockSum{});
}

Result<void> HeapProfile::read(std::string_view content) {
  readTables(content);
  readColumns();
  std::vector<std::string> types;
  for (const uint64_t type : types_)
    types.emplace_back(text(type));
  if (damaged_)
    return fail("it is no profile of pprof, or it was cut");
  if (!columns_[AliveBytes] && !columns_[AllBytes])
    return fail(fmt::format("it is a profile of {}, but not of memory in use (inuse_space)",
                            types.empty() ? "nothing" : fmt::format("{}", fmt::join(types, ", "))));
  run_.facts.source = "pprof";
  run_.facts.kind = "a heap profile of pprof";
  run_.facts.loss =
      "It has sums of paths, and no times. So the peak is what was alive at the end, the order of blocks is "
      "made up, and nothing is known about their lives. It has no types, variables and pointers";
  process_ = &run_.process(1);
  process_->end = EndReason::Running;
  for (const std::string_view sample : samples_)
    readSample(sample);
  if (damaged_)
    return fail("it is damaged");
  if (!columns_[AliveBytes])
    run_.facts.notes.emplace_back("the profile does not say what is alive, so all blocks count as freed");
  sums_.write(run_, *process_);
  return {};
}

// Whether the bytes are a message with only the numbers 1 and 2: the type and the unit of a column.
bool isValueType(std::string_view bytes) {
  ProtobufReader type(bytes);
  while (type.next())
    if ((type.field() != 1 && type.field() != 2) || !type.bytes().empty())
      return false;
  return !bytes.empty() && !type.isDamaged();
}

// The types of the columns come before the samples. Go writes the period before them.
bool isHeapProfile(std::string_view beginning) {
  ProtobufReader profile(beginning);
  while (profile.next())
    if (profile.field() == pprof_field::SampleType)
      return isValueType(profile.bytes());
    else if (profile.field() != pprof_field::Period &&
             (profile.field() != pprof_field::PeriodType || !isValueType(profile.bytes())))
      return false;
  return false;
}

Result<void> readHeapProfile(std::istream &in, ForeignRun &run) {
  std::string content;
  for (std::string piece(size_t{1} << 20, '\0'); in; content.append(piece, 0, static_cast<size_t>(in.gcount()))) {
    if (content.size() > kMostProfileBytes)
      return fail(fmt::format("it has more than {} MiB unpacked", kMostProfileBytes >> 20));
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
  }
  return HeapProfile(run).read(content);
}

} // namespace

MSL_REGISTER_IMPORTER(pprof, "heap profiles in the format of pprof", isHeapProfile, readHeapProfile)

} // namespace msleaks::analysis::inline importers
