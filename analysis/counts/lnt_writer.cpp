#include "analysis/base/machine.h"
#include "analysis/counts/compression.h"
#include "analysis/counts/escaped.h"
#include "analysis/counts/lnt_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::profiles {
namespace {

void addNumber(std::string &section, uint64_t number) {
  for (; number >= 0x80; number >>= 7)
    section += static_cast<char>((number & 0x7f) | 0x80);
  section += static_cast<char>(number);
}

void addText(std::string &section, std::string_view text) {
  section += text;
  section += '\n';
}

// Writes the bits of a binary32 as a number.
void addShare(std::string &section, double percent) {
  addNumber(section, std::bit_cast<uint32_t>(static_cast<float>(percent == 0 ? 0.0 : percent)));
}

bool fitsShare(double percent) { return std::isfinite(static_cast<float>(percent)); }

// Calls f with each text of a profile until f returns false. The texts of lines come in the order of the file.
template <class F> bool allTexts(const Profile &profile, F &&f) {
  if (!f(profile.disassembly_format))
    return false;
  for (const auto &[name, value] : profile.counters)
    if (!f(name))
      return false;
  for (const auto &[name, function] : profile.functions) {
    if (!f(name))
      return false;
    for (const auto &[counter, percent] : function.counters)
      if (!f(counter))
        return false;
    for (const ProfiledLine &line : function.lines)
      if (!f(line.text))
        return false;
  }
  return true;
}

// Whether the texts must be escaped. A text that equals the mark is escaped too, because readers would take it for the
// mark.
bool needsEscapes(const Profile &profile) {
  return !allTexts(profile, [](std::string_view text) { return isPlain(text) && text != kEscapedMark; });
}

class LntWriter {
public:
  explicit LntWriter(const Profile &profile) : profile_(profile), escapes_(needsEscapes(profile)) {}

  Result<std::string> write() {
    addText(at(LntSection::Header), spelt(profile_.disassembly_format));
    addCounterNames();
    addTopLevelCounters();
    if (escapes_)
      addText(at(LntSection::TextPool), kEscapedMark);
    MSL_TRY(addFunctions());
    if (at(LntSection::TextPool).empty()) // LNT's pool begins with an empty text, and the first text takes its place.
      addText(at(LntSection::TextPool), "");
    return assemble();
  }

private:
  std::string &at(LntSection section) { return sections_[static_cast<size_t>(section)]; }
  std::string spelt(std::string_view text) const { return escapes_ ? escaped(text) : std::string(text); }

  void addCounterNames();
  void addTopLevelCounters();
  Result<void> addFunctions();
  Result<void> addFunction(const std::string &name, const ProfiledFunction &);
  void addLines(const ProfiledFunction &, const std::vector<size_t> &columns);
  uint64_t offsetOf(const std::string &text);
  Result<std::string> assemble();

  const Profile &profile_;
  const bool escapes_;
  std::map<std::string, uint64_t> numbers_;                // numbers of counters, by their escaped names
  std::unordered_map<std::string_view, uint64_t> offsets_; // places in the pool, by text
  std::array<std::string, kLntSections> sections_;
};

void LntWriter::addCounterNames() {
  for (const auto &[name, value] : profile_.counters)
    numbers_.try_emplace(spelt(name));
  for (const auto &[name, function] : profile_.functions)
    for (const auto &[counter, percent] : function.counters)
      numbers_.try_emplace(spelt(counter));
  std::string &section = at(LntSection::CounterNames);
  addNumber(section, numbers_.size());
  uint64_t next = 0;
  for (auto &[name, number] : numbers_) {
    number = next++;
    addText(section, name);
  }
}

void LntWriter::addTopLevelCounters() {
  std::map<std::string, uint64_t> sorted;
  for (const auto &[name, value] : profile_.counters)
    sorted.emplace(spelt(name), value);
  std::string &section = at(LntSection::TopLevelCounters);
  addNumber(section, sorted.size());
  for (const auto &[name, value] : sorted) {
    addNumber(section, numbers_.at(name));
    addNumber(section, value);
  }
}

uint64_t LntWriter::offsetOf(const std::string &text) {
  std::string &pool = at(LntSection::TextPool);
  const auto [known, fresh] = offsets_.try_emplace(text, pool.size());
  if (fresh)
    addText(pool, spelt(text));
  return known->second;
}

void LntWriter::addLines(const ProfiledFunction &function, const std::vector<size_t> &columns) {
  uint64_t previous = 0;
  for (const ProfiledLine &line : function.lines) {
    for (const size_t column : columns)
      addShare(at(LntSection::LineCounters), line.shares[column]);
    addNumber(at(LntSection::LineAddresses), line.address - previous);
    previous = line.address;
    addNumber(at(LntSection::LineTexts), offsetOf(line.text));
  }
  addNumber(at(LntSection::LineTexts), 0);
}

Result<void> LntWriter::addFunction(const std::string &name, const ProfiledFunction &function) {
  std::vector<std::pair<std::string, size_t>> counters; // escaped names, which may have another order
  std::string &section = at(LntSection::Functions);
  addText(section, name);
  addNumber(section, function.lines.size());
  for (const LntSection lines : {LntSection::LineCounters, LntSection::LineAddresses, LntSection::LineTexts})
    addNumber(section, at(lines).size());
  addNumber(section, function.counters.size());
  for (const auto &[counter, percent] : function.counters)
    counters.emplace_back(spelt(counter), counters.size());
  std::sort(counters.begin(), counters.end());
  std::vector<size_t> columns;
  for (const auto &[counter, column] : counters) {
    const double percent = std::next(function.counters.begin(), static_cast<ptrdiff_t>(column))->second;
    if (!fitsShare(percent))
      return fail(fmt::format("{} percent in function '{}' is too much for LNT's format", percent, shown(name)));
    addNumber(section, numbers_.at(counter));
    addShare(section, percent);
    columns.push_back(column);
  }
  for (const ProfiledLine &line : function.lines)
    if (!std::all_of(line.shares.begin(), line.shares.end(), fitsShare))
      return fail(fmt::format("a percentage at {:#x} is too much for LNT's format", line.address));
  addLines(function, columns);
  return {};
}

Result<void> LntWriter::addFunctions() {
  std::map<std::string, const ProfiledFunction *> sorted;
  for (const auto &[name, function] : profile_.functions)
    sorted.emplace(spelt(name), &function);
  addNumber(at(LntSection::Functions), sorted.size());
  for (const auto &[name, function] : sorted)
    MSL_TRY(addFunction(name, *function));
  return {};
}

Result<std::string> LntWriter::assemble() {
  std::array<Result<std::string>, kLntSections> contents;
  eachInParallel(kLntSections, [&](size_t i) {
    if (isPacked(static_cast<LntSection>(i)))
      contents[i] = packBzip2(sections_[i]);
    else
      contents[i] = std::move(sections_[i]);
  });
  std::string index(1, static_cast<char>(kLntVersion)), body;
  for (size_t i = 0; i < kLntSections; ++i) {
    const std::string content = MSL_TRY(std::move(contents[i]));
    addNumber(index, body.size());
    addNumber(index, content.size());
    if (static_cast<LntSection>(i) == LntSection::TextPool)
      addText(index, ""); // here the name of another file with the pool could stand, but LNT knows no such files yet
    body += content;
  }
  return index + body;
}

} // namespace

Result<std::string> writeLnt(const Profile &profile) {
  if (Result<void> sound = checkProfile(profile); !sound)
    return fail(sound.error().message, ExitStatus::OwnFault);
  return LntWriter(profile).write();
}

} // namespace msleaks::analysis::profiles
