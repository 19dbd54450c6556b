#include "analysis/places/labels.h"

#include "analysis/places/definition_records.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace msleaks::analysis::inline places {

Result<void> Labels::load(const TraceReader &reader) {
  for (const ProcessStart &start : reader.processes())
    addProcess(start);
  return reader.forEachDefinitions(
      [this](uint32_t process, std::span<const std::byte> records) { addDefinitions(process, records); });
}

void Labels::addDefinitions(uint32_t process, std::span<const std::byte> records) {
  bool damaged = false;
  const auto end = forEachDefinition(records, [&](abi::DefinitionKind kind, std::span<const std::byte> body) {
    damaged |= !addRecord(process, kind, body);
  });
  if (damaged || end == RecordsEnd::Damaged)
    note(fmt::format("process {}: a definition is damaged; some labels of it are unknown", process));
}

bool Labels::addRecord(uint32_t process, abi::DefinitionKind kind, std::span<const std::byte> body) {
  if (kind == abi::DefinitionKind::Inherited)
    return ancestry_.add(process, body);
  if (kind != abi::DefinitionKind::String)
    return true;
  abi::StringDefinition label;
  if (body.size() < sizeof label)
    return false;
  std::memcpy(&label, body.data(), sizeof label);
  const auto text = body.subspan(sizeof label);
  if (label.number != 0)
    processes_[process].insert_or_assign(label.number,
                                         intern({reinterpret_cast<const char *>(text.data()), text.size()}));
  return true;
}

LabelId Labels::intern(std::string_view text) {
  if (const auto known = by_text_.find(text); known != by_text_.end())
    return known->second;
  const LabelId id{static_cast<uint32_t>(texts_.size())};
  by_text_.emplace(texts_.emplace_back(text), id);
  return id;
}

LabelId Labels::named(std::string_view text) const {
  const auto known = by_text_.find(text);
  return known == by_text_.end() ? LabelId{} : known->second;
}

LabelId Labels::findOwn(uint32_t process, uint64_t number) const {
  const auto numbers = processes_.find(process);
  if (numbers == processes_.end())
    return {};
  const auto label = numbers->second.find(number);
  return label == numbers->second.end() ? LabelId{} : label->second;
}

LabelId Labels::find(uint32_t process, uint64_t number) const {
  LabelId label = findOwn(process, number);
  if (!label.known() && number != 0)
    ancestry_.findAmong(process, [&](uint32_t ancestor) { return (label = findOwn(ancestor, number)).known(); });
  return label;
}

void Labels::note(std::string line) {
  constexpr size_t kMaxNotes = 100;
  if (notes_.size() < kMaxNotes && std::find(notes_.begin(), notes_.end(), line) == notes_.end())
    notes_.push_back(std::move(line));
}

} // namespace msleaks::analysis::inline places
