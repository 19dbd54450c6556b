#include "analysis/result/sum.h"

#include "analysis/result/fields.h"

#include <algorithm>
#include <concepts>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline result {
namespace {

enum class Combining : uint8_t { Sum, Difference, Restore };

// Collects the key fields of a row as text.
template <class T> class KeyCollector {
public:
  KeyCollector(std::string &key, const T &value) : key_(key), value_(value) {}

  template <class Member, class Form = Plain>
  void operator()(const char *, Member member, Form = {}, Fold fold = Fold::First) {
    if (fold == Fold::Key)
      append(value_.*member);
  }
  template <class Member> void part(Member member) {
    using Part = std::remove_cvref_t<decltype(value_.*member)>;
    Fields<Part>::each(KeyCollector<Part>(key_, value_.*member));
  }
  template <class Each> void object(const char *, Each each) { each(*this); }
  template <class Member, class IsIt> void onlyIf(const char *, Member member, IsIt isIt) {
    if (isIt(value_))
      append(value_.*member);
  }
  template <class Function> void derived(const char *, Function) {}
  template <class Function> void afterRead(Function) {}

private:
  template <class V> void append(const V &value) {
    if constexpr (HasFieldTable<V>)
      Fields<V>::each(KeyCollector<V>(key_, value));
    else if constexpr (std::is_enum_v<V>)
      key_ += std::to_string(static_cast<int>(value));
    else if constexpr (std::is_arithmetic_v<V>)
      key_ += std::to_string(value);
    else if constexpr (std::is_same_v<V, std::string>)
      key_ += value;
    else
      appendEach(value);
    key_ += '\0';
  }
  template <class V> void appendEach(const V &) {} // no key has such a type
  template <class V> void appendEach(const std::optional<V> &value) {
    if (value)
      append(*value);
  }
  template <class V> void appendEach(const std::vector<std::shared_ptr<const V>> &list) {
    for (const auto &item : list)
      append(*item);
  }

  std::string &key_;
  const T &value_;
};

template <class Table, class T> std::string keyOf(const T &value) {
  std::string key;
  Table::each(KeyCollector<T>(key, value));
  return key;
}

// Whether each combined number of a row is 0: then only the subtracted result had the row.
template <class T> class IsZero {
public:
  IsZero(bool &zero, const T &value) : zero_(zero), value_(value) {}

  template <class Member, class Form = Plain>
  void operator()(const char *, Member member, Form = {}, Fold fold = Fold::First) {
    using V = std::remove_cvref_t<decltype(value_.*member)>;
    if constexpr (std::integral<V>)
      zero_ &= (fold != Fold::Sum && fold != Fold::Largest) || value_.*member == 0;
  }
  template <class Member> void part(Member member) {
    using Part = std::remove_cvref_t<decltype(value_.*member)>;
    Fields<Part>::each(IsZero<Part>(zero_, value_.*member));
  }
  template <class Each> void object(const char *, Each each) { each(*this); }
  template <class Member, class IsIt> void onlyIf(const char *, Member, IsIt) {}
  template <class Function> void derived(const char *, Function) {}
  template <class Function> void afterRead(Function) {}

private:
  bool &zero_;
  const T &value_;
};

template <class Table, class T> bool isZero(const T &value) {
  bool zero = true;
  Table::each(IsZero<T>(zero, value));
  return zero;
}

template <class T> class Combiner {
public:
  Combiner(T &into, const T &from, Combining how) : into_(into), from_(from), how_(how) {}

  template <class Member, class Form = Plain>
  void operator()(const char *, Member member, Form form = {}, Fold fold = Fold::First) {
    combine(into_.*member, from_.*member, fold, form);
  }
  template <class Member> void part(Member member) {
    using Part = std::remove_cvref_t<decltype(into_.*member)>;
    Fields<Part>::each(Combiner<Part>(into_.*member, from_.*member, how_));
  }
  template <class Each> void object(const char *, Each each) { each(*this); }
  template <class Member, class IsIt> void onlyIf(const char *, Member, IsIt) {}
  template <class Function> void derived(const char *, Function) {}
  template <class Function> void afterRead(Function function) { function(into_); }

private:
  template <class V, class Form> void combine(V &into, const V &from, Fold fold, Form) {
    if constexpr (std::is_same_v<V, bool>)
      return;
    else if constexpr (std::is_arithmetic_v<V>)
      combineNumbers(into, from, fold);
    else if constexpr (HasFieldTable<V>)
      Fields<V>::each(Combiner<V>(into, from, how_));
  }
  template <class V, class Form>
  void combine(std::optional<V> &into, const std::optional<V> &from, Fold fold, Form form) {
    if (into && from)
      combine(*into, *from, fold, form);
    else if (from && how_ == Combining::Sum)
      into = from;
  }
  template <class V> void combine(std::vector<V> &into, const std::vector<V> &from, Fold, Plain) {
    if constexpr (std::is_same_v<V, Section>)
      combineSections(into, from);
    else if constexpr (HasFieldTable<V>)
      combineRows<Fields<V>>(into, from);
    else if (how_ == Combining::Sum)
      appendNew(into, from);
  }
  template <class V, class Table> void combine(std::vector<V> &into, const std::vector<V> &from, Fold, ItemsOf<Table>) {
    combineRows<Table>(into, from);
  }

  template <class V> void combineNumbers(V &into, V from, Fold fold) {
    if (fold != Fold::Sum && fold != Fold::Largest)
      return;
    if (how_ == Combining::Sum) {
      into = fold == Fold::Sum ? static_cast<V>(into + from) : std::max(into, from);
    } else if constexpr (std::integral<V>) {
      using Word = std::make_unsigned_t<V>; // unsigned, so it wraps
      const auto a = static_cast<Word>(into), b = static_cast<Word>(from);
      into = static_cast<V>(how_ == Combining::Difference ? static_cast<Word>(a - b) : static_cast<Word>(a + b));
    }
  }

  // Rows with a key that only `from` has become new rows. Rows without a key are appended, but only in a sum.
  template <class Table, class V> void combineRows(std::vector<V> &into, const std::vector<V> &from) {
    std::unordered_map<std::string, size_t> known;
    for (size_t row = 0; row < into.size(); ++row)
      if (std::string key = keyOf<Table>(into[row]); !key.empty())
        known.emplace(std::move(key), row);
    for (const V &row : from) {
      const std::string key = keyOf<Table>(row);
      if (key.empty()) {
        if (how_ == Combining::Sum)
          into.push_back(row);
        continue;
      }
      const auto [at, fresh] = known.emplace(key, into.size());
      if (fresh)
        into.push_back(how_ == Combining::Sum ? row : zeroOf<Table>(row));
      if (!fresh || how_ != Combining::Sum)
        Table::each(Combiner<V>(into[at->second], row, how_));
    }
    if (how_ == Combining::Restore)
      std::erase_if(into, [](const V &row) { return isZero<Table>(row); });
  }

  // Returns the row with 0 in each combined number.
  template <class Table, class V> V zeroOf(const V &row) {
    V zero = row;
    Table::each(Combiner<V>(zero, row, Combining::Difference));
    return zero;
  }

  void combineSections(std::vector<Section> &into, const std::vector<Section> &from) {
    if (how_ != Combining::Sum)
      return;
    for (const Section &section : from) {
      const auto same = std::find_if(into.begin(), into.end(), [&](const Section &known) {
        return known.name == section.name && known.columns == section.columns;
      });
      if (same == into.end())
        into.push_back(section);
      else
        *same += section;
    }
  }

  template <class V> void appendNew(std::vector<V> &into, const std::vector<V> &from) {
    for (const V &item : from)
      if (std::find(into.begin(), into.end(), item) == into.end())
        into.push_back(item);
  }

  T &into_;
  const T &from_;
  Combining how_;
};

void combine(Report &into, const Report &from, Combining how) {
  Fields<Report>::each(Combiner<Report>(into, from, how));
}

// A number of a process is valid in one trace only, so the numbers after `first` are used here.
void renumber(Report &report, uint32_t first) {
  for (ReportProcess &process : report.processes)
    process.process += process.process != 0 ? first : 0;
  for (ProcessPeak &peak : report.peak.by_process)
    peak.process += first;
  for (WatchLine &line : report.watch)
    line.process += first;
}

uint32_t lastProcess(const Report &report) {
  uint32_t last = 0;
  for (const ReportProcess &process : report.processes)
    last = std::max(last, process.process);
  return last;
}

} // namespace

void add(Report &into, Report from) {
  renumber(from, lastProcess(into));
  combine(into, from, Combining::Sum);
  into.closed &= from.closed;
}

Report difference(const Report &after, const Report &before) {
  Report result = after;
  combine(result, before, Combining::Difference);
  return result;
}

Report restored(const Report &difference, const Report &before) {
  Report result = difference;
  combine(result, before, Combining::Restore);
  return result;
}

} // namespace msleaks::analysis::inline result
