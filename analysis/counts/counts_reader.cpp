#include "analysis/counts/counts_reader.h"

#include "analysis/base/files.h"
#include "analysis/base/tables.h"
#include "msleaks/abi/flags.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace msleaks::analysis::inline counts {
namespace {

constexpr auto kLastMode = static_cast<uint32_t>(abi::CountMode::Strata);
constexpr uint64_t kMostBytes = uint64_t{16} << 30;

struct Record {
  uint32_t magic;
  abi::CountsKind kind;
  uint32_t unit, checksum;
  uint64_t bytes;
};
static_assert(sizeof(Record) == sizeof(abi::CountsRecord));

class CountsFileReader {
public:
  Result<void> readSlab(std::span<const std::byte> slab) {
    uint64_t at = sizeof(abi::CountsSlab);
    while (at + sizeof(Record) <= slab.size()) {
      const auto record = copyRow<Record>(slab, at);
      at += sizeof record;
      if (record.magic != abi::CountsRecord::kMagic || record.bytes > slab.size() - at)
        return {};
      MSL_TRY(take(record, slab.subspan(at, record.bytes)));
      at += record.bytes;
    }
    return {};
  }
  std::vector<CountedModule> modules;

private:
  Result<void> take(const Record &record, std::span<const std::byte> body) {
    if (record.kind == abi::CountsKind::Unit) {
      auto module = MSL_TRY(readGraphs(body));
      // A damaged table may name any number of counters. So no memory is reserved before the counters are read.
      std::vector<uint64_t> counts;
      modules.push_back({std::move(module), std::move(counts), {}, {}});
      return {};
    }
    if (record.kind != abi::CountsKind::Counters && record.kind != abi::CountsKind::Launches)
      return {};
    if (record.unit == 0 || record.unit > modules.size())
      return fail("it has counters of a module that it does not describe");
    CountedModule &counted = modules[record.unit - 1];
    if (record.kind == abi::CountsKind::Launches)
      return takeLaunches(counted, body);
    const uint64_t count = body.size() / sizeof(uint64_t);
    if (count != counted.module.counters)
      return fail(fmt::format("it has {} counters of a module with {}: they do not fit its graphs", count,
                              counted.module.counters));
    if (record.checksum != 0 && record.checksum != counted.module.checksum)
      return fail(fmt::format("it has counters of graphs with the checksum {:08x}, its module's is {:08x}: they do not "
                              "fit its graphs",
                              record.checksum, counted.module.checksum));
    std::vector<uint64_t> counts(count);
    for (uint64_t i = 0; i < count; ++i)
      counts[i] = copyRow<uint64_t>(body, i * sizeof(uint64_t));
    counted.counts.resize(count);
    std::ranges::transform(counts, counted.counts, counted.counts.begin(), std::plus());
    if (std::ranges::any_of(counted.module.graphs, &Graph::is_kernel))
      counted.banks.push_back(std::move(counts));
    return {};
  }

  static Result<void> takeLaunches(CountedModule &counted, std::span<const std::byte> body) {
    if (body.size() < sizeof(abi::CountedLaunches))
      return fail("it is damaged: a record of launches is too short");
    const auto launches = copyRow<abi::CountedLaunches>(body, 0);
    if (launches.function >= counted.module.graphs.size() || launches.mode > kLastMode ||
        launches.counted > launches.launches || launches.counted_threads > launches.threads)
      return fail("it is damaged: it has launches that cannot be");
    counted.launches.push_back(launches);
    return {};
  }
};

} // namespace

Result<std::vector<CountedModule>> readCounts(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(abi::CountsHeader))
    return fail("it is no file of counts: it has no whole header");
  const auto header = copyRow<abi::CountsHeader>(bytes, 0);
  if (header.magic != abi::CountsHeader::kMagic)
    return fail("it is no file of counts: its magic number is missing");
  if (header.version != abi::kCountsVersion)
    return fail(fmt::format("it is of version {}, this msleaks reads {}", header.version, abi::kCountsVersion));
  if (header.header_bytes < sizeof header)
    return fail("it is damaged: its header states impossible sizes");
  CountsFileReader reader;
  for (uint64_t at = header.header_bytes; at + sizeof(abi::CountsSlab) <= bytes.size();) {
    const auto slab = copyRow<abi::CountsSlab>(bytes, at);
    if (slab.bytes < sizeof slab)
      break;
    MSL_TRY(reader.readSlab(bytes.subspan(at, std::min<uint64_t>(slab.bytes, bytes.size() - at))));
    if (slab.bytes > bytes.size() - at)
      break;
    at += slab.bytes;
  }
  return std::move(reader.modules);
}

Result<std::vector<CountedModule>> readCountsFile(const std::filesystem::path &path) {
  const auto file = MSL_TRY(InputFile::open(path));
  if (file.size() > kMostBytes)
    return fail(fmt::format("{}: too large for a file of counts", path.string()));
  std::vector<std::byte> bytes(file.size());
  const size_t read = MSL_TRY(file.read(0, {reinterpret_cast<uint8_t *>(bytes.data()), bytes.size()}));
  bytes.resize(read);
  auto modules = readCounts(bytes);
  if (!modules)
    return fail(fmt::format("{}: {}", path.string(), modules.error().message));
  return modules;
}

} // namespace msleaks::analysis::inline counts
