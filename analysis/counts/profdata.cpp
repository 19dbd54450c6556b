#include "analysis/counts/profdata.h"

#include "analysis/counts/escaped.h"
#include "analysis/trace/bytes.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace msleaks::analysis::profiles {
namespace {

// The file is a header, a summary, and a hash table. The header contains the place of the table. The table begins with
// the number of its buckets, the number of its entries, and the place of each bucket. A bucket is the number of its
// items and the items. An item is a hash, the length of the name, the length of the records, the name, and the records.
// The number of items has 16 bits. All other numbers of the table have 64 bits, with the lowest byte first.
constexpr uint64_t kProfdataMagic = 0x8169666f72706cff;
constexpr uint64_t kOldest = 3, kNewest = 13; // LLVM 19 writes version 12, and LLVM 22 writes version 13.
constexpr uint64_t kFirstWithBitmaps = 11;

// Bits of the header's version. They say how the program was instrumented.
constexpr uint64_t kFromIr = uint64_t{1} << 56, kEntryFirst = uint64_t{1} << 58;
// kHasSecondRound: the program was also instrumented a second time, after inlining. Then kSecondRound in the hash of a
// record says that the record is of this second time.
constexpr uint64_t kHasSecondRound = uint64_t{1} << 57, kSecondRound = uint64_t{1} << 60;

constexpr uint64_t kRawMagics[] = {0xff6c70726f667281, 0xff6c70726f665281}; // 64 and 32 bits, big-endian

uint64_t magicOf(std::span<const uint8_t> head) {
  uint64_t magic = 0;
  if (head.size() >= sizeof magic)
    std::memcpy(&magic, head.data(), sizeof magic);
  return magic;
}

struct Record {
  std::string name;
  uint64_t hash = 0;
  std::vector<uint64_t> counts;
};

class ProfdataReader {
public:
  explicit ProfdataReader(std::span<const uint8_t> file) : file_(file) {}
  Result<Profile> read();

private:
  static tl::unexpected<Error> damaged(size_t offset) {
    return fail(fmt::format("its table of functions is damaged (near byte {})", offset));
  }
  Result<void> readBucket(uint64_t offset);
  Result<void> readRecords(const std::string &name, std::span<const uint8_t> data, size_t offset);
  bool hasEntries() const { return (version_ & kFromIr) == 0 || (version_ & kEntryFirst) != 0; }
  Profile profileOf() const;
  ProfiledFunction functionOf(const Record &, double all_counts, double all_calls) const;

  std::span<const uint8_t> file_;
  uint64_t version_ = 0, entries_ = 0, weight_ = 0;
  std::vector<Record> records_;
};

Result<void> ProfdataReader::readRecords(const std::string &name, std::span<const uint8_t> data, size_t offset) {
  ByteReader reader(data);
  while (reader.left() > 0) {
    Record record{name, reader.fixed<uint64_t>(), {}};
    const auto count = reader.fixed<uint64_t>();
    if (reader.failed() || count > reader.left() / sizeof(uint64_t))
      return damaged(offset);
    if ((weight_ += count + 1) > kMostLines)
      return fail(fmt::format("has more than {} counters", kMostLines));
    record.counts.resize(static_cast<size_t>(count));
    for (uint64_t &value : record.counts)
      value = reader.fixed<uint64_t>();
    if ((version_ & UINT32_MAX) >= kFirstWithBitmaps) {
      const auto bytes = reader.fixed<uint64_t>(); // numbers about conditions, each stored in 64 bits
      if (bytes > reader.left() / sizeof(uint64_t))
        return damaged(offset);
      reader.bytes(bytes * sizeof(uint64_t));
    }
    const auto values = reader.fixed<uint32_t>(); // size of the data about values, including this number
    if (values < 2 * sizeof(uint32_t))
      return damaged(offset);
    reader.bytes(values - sizeof(uint32_t));
    if (reader.failed())
      return damaged(offset);
    records_.push_back(std::move(record));
  }
  return {};
}

Result<void> ProfdataReader::readBucket(uint64_t offset) {
  if (offset > file_.size())
    return damaged(file_.size());
  ByteReader reader(file_.subspan(static_cast<size_t>(offset)));
  for (unsigned left = reader.fixed<uint16_t>(); left > 0; --left) {
    reader.fixed<uint64_t>(); // hash of the name
    const auto name_size = reader.fixed<uint64_t>(), data_size = reader.fixed<uint64_t>();
    const auto name = reader.bytes(name_size);
    const size_t at = file_.size() - reader.left();
    const auto data = reader.bytes(data_size);
    if (reader.failed() || entries_-- == 0)
      return damaged(at);
    MSL_TRY(readRecords({reinterpret_cast<const char *>(name.data()), name.size()}, data, at));
  }
  return reader.failed() ? damaged(static_cast<size_t>(offset)) : Result<void>();
}

// The two highest values mean "hot" and "warm" and are no counts.
double countOf(uint64_t value) { return value >= UINT64_MAX - 1 ? 0 : static_cast<double>(value); }

double sumOf(const Record &record) {
  double sum = 0;
  for (const uint64_t value : record.counts)
    sum += countOf(value);
  return sum;
}

double callsOf(const Record &record) { return record.counts.empty() ? 0 : countOf(record.counts.front()); }

double percentOf(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

ProfiledFunction ProfdataReader::functionOf(const Record &record, double all_counts, double all_calls) const {
  ProfiledFunction function;
  const double sum = sumOf(record);
  if (hasEntries())
    function.counters["calls"] = percentOf(callsOf(record), all_calls);
  function.counters["counts"] = percentOf(sum, all_counts);
  for (size_t i = 0; i < record.counts.size(); ++i) {
    ProfiledLine line{{}, i, fmt::format("counter {}", i)};
    if (hasEntries())
      line.shares.push_back(i == 0 && countOf(record.counts[0]) > 0 ? 100 : 0);
    line.shares.push_back(percentOf(countOf(record.counts[i]), sum));
    function.lines.push_back(std::move(line));
  }
  return function;
}

uint64_t saturated(double number) { return number >= 0x1p64 ? UINT64_MAX : static_cast<uint64_t>(number); }

// If several records have one name, their hashes differ. So the name of each record but the first gets its hash. A
// record of the second time of instrumentation always gets its hash.
Profile ProfdataReader::profileOf() const {
  Profile profile;
  double all_counts = 0, all_calls = 0;
  uint64_t counts = 0, calls = 0; // exact sums, unless they overflow
  for (const Record &record : records_) {
    all_counts += sumOf(record);
    all_calls += callsOf(record);
    for (const uint64_t value : record.counts)
      counts += saturated(countOf(value));
    calls += saturated(callsOf(record));
  }
  const auto exact = [](uint64_t sum, double about) { return about < 0x1p63 ? sum : saturated(about); };
  profile.counters["counts"] = exact(counts, all_counts);
  if (hasEntries())
    profile.counters["calls"] = exact(calls, all_calls);
  const uint64_t round_bit = (version_ & kHasSecondRound) != 0 ? kSecondRound : 0;
  for (const Record &record : records_) {
    std::string name = record.name;
    if (profile.functions.contains(name) || (record.hash & round_bit) != 0)
      name += fmt::format(" [hash {:#018x}]", record.hash);
    profile.functions.insert_or_assign(std::move(name), functionOf(record, all_counts, all_calls));
  }
  return profile;
}

Result<Profile> ProfdataReader::read() {
  ByteReader header(file_);
  header.fixed<uint64_t>(); // the magic number
  version_ = header.fixed<uint64_t>();
  header.fixed<uint64_t>(); // not used
  const auto hash_kind = header.fixed<uint64_t>();
  const auto table = header.fixed<uint64_t>();
  if (header.failed() || table > file_.size())
    return fail("its header is cut short or damaged");
  if (const uint64_t version = version_ & UINT32_MAX; version < kOldest || version > kNewest)
    return fail(fmt::format(
        "is an indexed profile of version {}; known are {} to {}: write it with llvm-profdata merge of LLVM 19 or 22",
        version, kOldest, kNewest));
  if (hash_kind != 0)
    return fail(fmt::format("its names are hashed in a way that is not known ({})", hash_kind));
  ByteReader buckets(file_.subspan(static_cast<size_t>(table)));
  const auto count = buckets.fixed<uint64_t>();
  entries_ = buckets.fixed<uint64_t>();
  if (buckets.failed() || count > buckets.left() / sizeof(uint64_t))
    return damaged(static_cast<size_t>(table));
  for (uint64_t i = 0; i < count; ++i)
    if (const auto offset = buckets.fixed<uint64_t>(); offset != 0)
      MSL_TRY(readBucket(offset));
  if (entries_ != 0)
    return damaged(static_cast<size_t>(table));
  std::stable_sort(records_.begin(), records_.end(), [](const Record &left, const Record &right) {
    return left.name != right.name ? left.name < right.name : left.hash < right.hash;
  });
  return profileOf();
}

} // namespace

bool isProfdata(std::span<const uint8_t> head) { return magicOf(head) == kProfdataMagic; }

bool isRawProfdata(std::span<const uint8_t> head) {
  const uint64_t magic = magicOf(head);
  return std::any_of(std::begin(kRawMagics), std::end(kRawMagics),
                     [&](uint64_t raw) { return magic == raw || magic == __builtin_bswap64(raw); });
}

Result<Profile> readProfdata(std::span<const uint8_t> file) {
  if (isRawProfdata(file))
    return fail(
        "is a raw profile, as a program writes it: merge it first, with `llvm-profdata merge FILE -o OUT.profdata`");
  Profile profile = MSL_TRY(ProfdataReader(file).read());
  MSL_TRY(checkProfile(profile));
  return profile;
}

} // namespace msleaks::analysis::profiles
