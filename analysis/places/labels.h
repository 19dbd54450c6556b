// The texts of marks, ranges, owners and counters. Events contain numbers of these texts (abi::StringDefinition). A
// number is valid in one process only. Equal texts of several processes share one LabelId.
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

// The number of a text in one Labels object. Numbers begin with 1 and have no gaps. 0 = not known.
struct LabelId {
  uint32_t index = 0;
  constexpr bool known() const { return index != 0; }
  constexpr auto operator<=>(const LabelId &) const = default;
};

class Labels {
public:
  Labels() : texts_(1) {}
  Labels(const Labels &) = delete; // by_text_ contains views of texts_
  Labels &operator=(const Labels &) = delete;

  // Reads all labels of a trace. A SiteCatalog of the trace contains its labels already.
  Result<void> load(const TraceReader &);
  // Adds a process from which others may have inherited texts. Call it before the first look-up.
  void addProcess(const ProcessStart &start) { ancestry_.add(start); }
  // Takes whole records of a process' definitions (abi/definitions.h). Notes and skips damage.
  void addDefinitions(uint32_t process, std::span<const std::byte> records);
  // Takes one record; the caller notes damage. Returns false if the record is too short: a label, or the definition
  // that names the ancestor of a process.
  bool addRecord(uint32_t process, abi::DefinitionKind, std::span<const std::byte> body);

  // The label of an event's number. Not known if neither the process nor an ancestor has defined the number.
  LabelId find(uint32_t process, uint64_t number) const;
  // The label with this text. Not known if no process has defined it.
  LabelId named(std::string_view text) const;
  // The result is valid while this object exists. It is empty if the label is not known.
  std::string_view textOf(LabelId id) const { return id.index < texts_.size() ? texts_[id.index] : texts_.front(); }
  std::string_view textOf(uint32_t process, uint64_t number) const { return textOf(find(process, number)); }
  size_t size() const { return texts_.size(); } // LabelId::index is smaller
  const std::vector<std::string> &notes() const { return notes_; }

private:
  using Numbers = std::unordered_map<uint64_t, LabelId>;

  LabelId findOwn(uint32_t process, uint64_t number) const;
  LabelId intern(std::string_view text);
  void note(std::string line);

  std::deque<std::string> texts_; // a deque, so that texts never move; [0] means not known
  std::unordered_map<std::string_view, LabelId> by_text_;
  std::unordered_map<uint32_t, Numbers> processes_;
  Ancestry ancestry_;
  std::vector<std::string> notes_;
};

} // namespace msleaks::analysis::inline places

template <> struct std::hash<msleaks::analysis::LabelId> {
  size_t operator()(msleaks::analysis::LabelId label) const noexcept { return label.index; }
};
