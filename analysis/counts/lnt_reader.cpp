#include "analysis/counts/compression.h"
#include "analysis/counts/escaped.h"
#include "analysis/counts/lnt_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <utility>
#include <vector>

namespace msleaks::analysis::profiles {
namespace {

std::span<const uint8_t> bytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

// Reads numbers and texts. After the end, or after a number of more than 64 bits, every result is empty and failed()
// returns true.
class LntCursor {
public:
  explicit LntCursor(std::span<const uint8_t> content) : content_(content) {}

  uint64_t number() {
    uint64_t value = 0;
    for (unsigned shift = 0; at_ < content_.size(); shift += 7) {
      const uint8_t byte = content_[at_++];
      const uint64_t bits = byte & 0x7f;
      if (bits != 0 && (shift > 63 || bits << shift >> shift != bits))
        break;
      value |= shift < 64 ? bits << shift : 0;
      if (byte < 0x80)
        return value;
    }
    return fail(), 0;
  }

  double share() {
    const uint64_t bits = number();
    if (bits > UINT32_MAX)
      fail();
    return failed_ ? 0 : std::bit_cast<float>(static_cast<uint32_t>(bits));
  }

  std::string_view text() {
    const auto rest = content_.subspan(at_);
    const auto *end =
        rest.empty() ? nullptr : static_cast<const uint8_t *>(std::memchr(rest.data(), '\n', rest.size()));
    if (!end)
      return fail(), std::string_view();
    const auto size = static_cast<size_t>(end - rest.data());
    at_ += size + 1;
    return {reinterpret_cast<const char *>(rest.data()), size};
  }

  void seek(uint64_t offset) {
    if (offset > content_.size())
      fail();
    else
      at_ = static_cast<size_t>(offset);
  }
  size_t position() const { return at_; }
  size_t left() const { return content_.size() - at_; }
  bool failed() const { return failed_; }

private:
  void fail() {
    failed_ = true;
    at_ = content_.size();
  }

  std::span<const uint8_t> content_;
  size_t at_ = 0;
  bool failed_ = false;
};

constexpr std::array<const char *, kLntSections> kSectionNames = {
    "header",         "counter names", "top-level counters", "line counters",
    "line addresses", "line texts",    "text pool",          "functions"};

class LntReader {
public:
  explicit LntReader(std::span<const uint8_t> file) : file_(file) {}

  Result<Profile> read() {
    MSL_TRY(readSections());
    escapes_ = at(LntSection::TextPool).starts_with(fmt::format("{}\n", kEscapedMark));
    LntCursor header(bytesOf(at(LntSection::Header)));
    profile_.disassembly_format = meant(header.text());
    if (header.failed())
      return damaged(LntSection::Header);
    MSL_TRY(readCounterNames());
    MSL_TRY(readTopLevelCounters());
    MSL_TRY(readFunctions());
    return std::move(profile_);
  }

private:
  const std::string &at(LntSection section) const { return sections_[static_cast<size_t>(section)]; }
  std::string meant(std::string_view text) const { return escapes_ ? unescaped(text) : std::string(text); }
  static tl::unexpected<Error> damaged(LntSection section) {
    return fail(fmt::format("its section '{}' is damaged", kSectionNames[static_cast<size_t>(section)]));
  }

  Result<void> readSections();
  Result<void> readCounterNames();
  Result<void> readTopLevelCounters();
  Result<void> readFunctions();
  Result<void> readFunction(LntCursor &);
  Result<std::string> textAt(uint64_t offset);
  Result<void> readLines(ProfiledFunction &, uint64_t count, uint64_t counters, uint64_t addresses, uint64_t texts);
  // Returns the name of a counter, or null if the number is wrong.
  const std::string *nameOf(uint64_t number) const { return number < names_.size() ? &names_[number] : nullptr; }

  std::span<const uint8_t> file_;
  std::array<std::string, kLntSections> sections_;
  bool escapes_ = false;
  std::vector<std::string> names_;
  uint64_t lines_ = 0, text_bytes_ = 0;
  Profile profile_;
};

Result<void> LntReader::readSections() {
  LntCursor index(file_);
  if (index.number() != kLntVersion)
    return fail("is no profile of LNT, version 2");
  std::array<std::pair<uint64_t, uint64_t>, kLntSections> places;
  for (size_t i = 0; i < kLntSections; ++i) {
    places[i].first = index.number();
    places[i].second = index.number();
    if (static_cast<LntSection>(i) == LntSection::TextPool)
      if (const std::string_view pool = index.text(); !pool.empty())
        return fail(
            fmt::format("has its texts in another file ('{}'), which neither LNT nor msleaks reads", shown(pool)));
  }
  if (index.failed())
    return fail("its index of sections is damaged");
  const std::span<const uint8_t> body = file_.subspan(index.position());
  uint64_t room = kMostUnpackedBytes;
  for (size_t i = 0; i < kLntSections; ++i) {
    const auto [offset, size] = places[i];
    if (offset > body.size() || size > body.size() - offset)
      return fail(fmt::format("ends before the end of its section '{}'", kSectionNames[i]));
    const auto stored = body.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
    if (!isPacked(static_cast<LntSection>(i))) {
      sections_[i].assign(reinterpret_cast<const char *>(stored.data()), stored.size());
      continue;
    }
    Result<std::string> content = unpackBzip2(stored, room);
    if (!content)
      return fail(fmt::format("its section '{}': {}", kSectionNames[i], content.error().message),
                  content.error().status);
    room -= content->size();
    sections_[i] = std::move(*content);
  }
  return {};
}

Result<void> LntReader::readCounterNames() {
  LntCursor cursor(bytesOf(at(LntSection::CounterNames)));
  for (uint64_t left = cursor.number(); left > 0 && !cursor.failed(); --left)
    names_.push_back(meant(cursor.text()));
  return cursor.failed() ? damaged(LntSection::CounterNames) : Result<void>();
}

Result<void> LntReader::readTopLevelCounters() {
  LntCursor cursor(bytesOf(at(LntSection::TopLevelCounters)));
  for (uint64_t left = cursor.number(); left > 0 && !cursor.failed(); --left) {
    const std::string *name = nameOf(cursor.number());
    const uint64_t value = cursor.number();
    if (!name)
      return damaged(LntSection::TopLevelCounters);
    profile_.counters[*name] = value;
  }
  return cursor.failed() ? damaged(LntSection::TopLevelCounters) : Result<void>();
}

Result<std::string> LntReader::textAt(uint64_t offset) {
  LntCursor pool(bytesOf(at(LntSection::TextPool)));
  pool.seek(offset);
  const std::string_view text = pool.text();
  if (pool.failed())
    return damaged(LntSection::TextPool);
  if ((text_bytes_ += text.size()) > kMostUnpackedBytes)
    return fail(fmt::format("its lines have more than {} MiB of text", kMostUnpackedBytes >> 20));
  return meant(text);
}

Result<void> LntReader::readLines(ProfiledFunction &function, uint64_t count, uint64_t counters, uint64_t addresses,
                                  uint64_t texts) {
  LntCursor shares(bytesOf(at(LntSection::LineCounters))), deltas(bytesOf(at(LntSection::LineAddresses)));
  LntCursor offsets(bytesOf(at(LntSection::LineTexts)));
  shares.seek(counters);
  deltas.seek(addresses);
  offsets.seek(texts);
  // Each line has at least one byte in each section.
  if (count > deltas.left() || count > offsets.left())
    return damaged(LntSection::LineAddresses);
  // Functions of a file may share their lines. So the limit holds for the lines of all functions together.
  if ((lines_ += count * (1 + function.counters.size() / 8)) > kMostLines)
    return fail(fmt::format("has more than {} lines", kMostLines));
  function.lines.resize(static_cast<size_t>(count));
  uint64_t address = 0;
  for (ProfiledLine &line : function.lines) {
    line.shares.reserve(function.counters.size());
    for (size_t i = 0; i < function.counters.size(); ++i)
      line.shares.push_back(shares.share());
    const uint64_t delta = deltas.number();
    if (delta > UINT64_MAX - address)
      return damaged(LntSection::LineAddresses);
    line.address = address += delta;
    line.text = MSL_TRY(textAt(offsets.number()));
  }
  if (shares.failed())
    return damaged(LntSection::LineCounters);
  return deltas.failed() || offsets.failed() ? damaged(LntSection::LineAddresses) : Result<void>();
}

Result<void> LntReader::readFunction(LntCursor &cursor) {
  const std::string name = meant(cursor.text());
  const uint64_t count = cursor.number(), counters = cursor.number(), addresses = cursor.number(),
                 texts = cursor.number();
  ProfiledFunction function;
  for (uint64_t left = cursor.number(); left > 0 && !cursor.failed(); --left) {
    const std::string *counter = nameOf(cursor.number());
    if (!counter)
      return damaged(LntSection::Functions);
    function.counters[*counter] = cursor.share();
  }
  if (cursor.failed())
    return damaged(LntSection::Functions);
  MSL_TRY(readLines(function, count, counters, addresses, texts));
  profile_.functions.insert_or_assign(name, std::move(function)); // If names are equal, the last one wins, as in LNT.
  return {};
}

// Puts the shares of each line into the order of the counters' names. The file has them in the order of the escaped
// names, which may differ.
void sortShares(Profile &profile) {
  for (auto &[name, function] : profile.functions) {
    std::vector<std::pair<std::string, size_t>> spelt;
    for (const auto &[counter, percent] : function.counters)
      spelt.emplace_back(escaped(counter), spelt.size());
    std::sort(spelt.begin(), spelt.end());
    for (ProfiledLine &line : function.lines) {
      std::vector<double> sorted(spelt.size());
      for (size_t i = 0; i < spelt.size(); ++i)
        sorted[spelt[i].second] = line.shares[i];
      line.shares = std::move(sorted);
    }
  }
}

Result<void> LntReader::readFunctions() {
  LntCursor cursor(bytesOf(at(LntSection::Functions)));
  for (uint64_t left = cursor.number(); left > 0 && !cursor.failed(); --left)
    MSL_TRY(readFunction(cursor));
  if (cursor.failed())
    return damaged(LntSection::Functions);
  if (escapes_)
    sortShares(profile_);
  return {};
}

} // namespace

Result<Profile> readLnt(std::span<const uint8_t> file) {
  Profile profile = MSL_TRY(LntReader(file).read());
  MSL_TRY(checkProfile(profile));
  return profile;
}

} // namespace msleaks::analysis::profiles
