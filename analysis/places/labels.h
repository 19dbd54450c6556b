// The texts that events name by a number (abi::StringDefinition): of marks, ranges, owners, counters. A number means
// something only within its process; equal texts of all processes share one LabelId.
#pragma once

#include "analysis/base/result.h"
#include "analysis/places/ancestry.h"
#include "analysis/trace/trace_reader.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline places {

// Number of a text in one Labels, from 1 without gaps. 0 = not known.
struct LabelId {
  uint32_t index = 0;
  constexpr bool known() const { return index != 0; }
  constexpr auto operator<=>(const LabelId &) const = default;
};

class Labels {
public:
  Labels() : texts_(1) {}
  Labels(const Labels &) = delete; // by_text_ looks into texts_
  Labels &operator=(const Labels &) = delete;

  // Everything that a trace defines. Whoever reads a SiteCatalog too has its labels, and needs no others.
  Result<void> load(const TraceReader &);
  // A process that others may have inherited texts from; before the first look-up.
  void addProcess(const ProcessStart &start) { ancestry_.add(start); }
  // Whole records of a process' definitions (abi/definitions.h). Damage is noted and skipped.
  void addDefinitions(uint32_t process, std::span<const std::byte> records);
  // One of them, for whoever walks and notes by himself; false = a label, or what says whose
  // labels a process inherited, is too short.
  bool addRecord(uint32_t process, abi::DefinitionKind, std::span<const std::byte> body);

  // The text of an event; unknown for a number that neither the process nor an ancestor defined.
  LabelId find(uint32_t process, uint64_t number) const;
  // The label with this text; unknown: nobody defined it.
  LabelId named(std::string_view text) const;
  // Valid while the labels live; empty when it is not known.
  std::string_view textOf(LabelId id) const { return id.index < texts_.size() ? texts_[id.index] : texts_.front(); }
  std::string_view textOf(uint32_t process, uint64_t number) const { return textOf(find(process, number)); }
  size_t size() const { return texts_.size(); } // LabelId::index is below it
  const std::vector<std::string> &notes() const { return notes_; }

private:
  using Numbers = std::unordered_map<uint64_t, LabelId>;

  LabelId findOwn(uint32_t process, uint64_t number) const;
  LabelId intern(std::string_view text);
  void note(std::string line);

  std::deque<std::string> texts_; // a deque, so that a text stays where it is. [0] is unknown
  std::unordered_map<std::string_view, LabelId> by_text_;
  std::unordered_map<uint32_t, Numbers> processes_;
  Ancestry ancestry_;
  std::vector<std::string> notes_;
};

} // namespace msleaks::analysis::inline places

template <> struct std::hash<msleaks::analysis::LabelId> {
  size_t operator()(msleaks::analysis::LabelId label) const noexcept { return label.index; }
};
