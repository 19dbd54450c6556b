// Write your own analyzer with this header (docs/analyzers.md). It receives the births and deaths of blocks, and
// returns findings at the end. A class and one line make a shared object, which needs no library of msleaks:
//
//   class Large final : public msleaks::analyzer::Analyzer {
//     void onAlloc(const Block &block, Birth, uint64_t time_ns) override { … }
//     void conclude(Conclusion &conclusion) override { conclusion.add(Finding{…}); }
//   };
//   MSL_ANALYZER(large, Large)
//
//   c++ -std=c++20 -O2 -shared -fPIC -I/opt/msleaks/include large.cpp -o large.so
//   msleaks report RUN --analyzer ./large.so
//
// If it throws an exception, only this analyzer ends. msleaks sees only the types in msleaks/abi/analyzer.h.
#pragma once

#include "msleaks/abi/analyzer.h"
#include "msleaks/abi/events.h"

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace msleaks::analyzer {

using Heap = abi::Heap;
using EventKind = abi::EventKind;
inline Heap heapOf(const Block &block) { return static_cast<Heap>(block.heap); }

constexpr uint32_t bitOf(EventKind kind) { return 1u << static_cast<uint32_t>(kind); }

// The numbers of the fields of each event, for example fields::Step::number.
namespace fields {
#define MSL_EVENT(name, number, slots, doc)                                                                            \
  struct name {                                                                                                        \
    enum Field : uint32_t {
#define MSL_FIELD(type, field, repr, doc) field,
#define MSL_EVENT_END(name)                                                                                            \
  }                                                                                                                    \
  ;                                                                                                                    \
  }                                                                                                                    \
  ;
#include "msleaks/abi/events.def"
} // namespace fields

// The value of a field, or 0 if the version of msleaks that sends the event does not know the field.
inline uint64_t fieldOf(const Event &event, uint32_t field) {
  return field < event.field_count ? event.fields[field] : 0;
}

// A site in a table. The report shows its place.
struct AtSite {
  uint32_t site;
};
using Cell = std::variant<std::monostate, uint64_t, double, std::string, AtSite>;

struct Column {
  std::string name;
  Unit unit = Unit::Count;
};
struct Table {
  std::string name, title; // name: for programs; title: for people
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows; // a cell for each column
};

struct Finding {
  std::string kind;
  Confidence confidence = Confidence::Hint;
  std::vector<Share> shares = {}; // blocks of the finding; its place is the place with the most bytes
  std::vector<std::pair<std::string, Cell>> evidence = {};
  std::string advice = {}; // one sentence
  // The bytes that a fix would remove, ascending by time. msleaks computes from this how much the peak falls.
  std::vector<Absent> absent = {};
  bool all_absent = false; // a fix removes all blocks that the groups ever had
};

class Conclusion {
public:
  explicit Conclusion(const Host &host) : host_(host) {}

  const Place &place(uint32_t site) const { return *host_.place(host_.self, site); }
  uint32_t siteOf(uint32_t group) const { return host_.siteOf(host_.self, group); }
  std::string_view process(uint32_t number) const { return host_.process(host_.self, number); }
  std::string_view thread(uint32_t process, uint32_t number) const { return host_.thread(host_.self, process, number); }
  std::string_view label(uint32_t process, uint64_t number) const { return host_.label(host_.self, process, number); }

  // Both functions throw an exception if their argument is refused. The exception says why.
  void add(const Finding &finding) {
    std::vector<EvidenceView> evidence;
    for (const auto &[name, value] : finding.evidence)
      evidence.push_back({name.c_str(), valueOf(value)});
    const FindingView view{sizeof view,           finding.confidence,    finding.kind.c_str(), finding.advice.c_str(),
                           finding.shares.data(), finding.shares.size(), evidence.data(),      evidence.size(),
                           finding.absent.data(), finding.absent.size(), finding.all_absent,   0};
    check(host_.addFinding(host_.self, &view));
  }
  void add(const Table &table) {
    std::vector<ColumnView> columns;
    for (const Column &column : table.columns)
      columns.push_back({column.name.c_str(), column.unit, 0});
    std::vector<Value> cells;
    for (const std::vector<Cell> &row : table.rows) {
      if (row.size() != columns.size())
        throw std::invalid_argument("table " + table.name + ": a row has not as many cells as there are columns");
      for (const Cell &cell : row)
        cells.push_back(valueOf(cell));
    }
    const TableView view{
        sizeof view,      0, table.name.c_str(), table.title.c_str(), columns.data(), columns.size(), cells.data(),
        table.rows.size()};
    check(host_.addTable(host_.self, &view));
  }

private:
  static void check(const char *refusal) {
    if (refusal != nullptr)
      throw std::invalid_argument(refusal);
  }
  static Value valueOf(const Cell &cell) {
    Value value{};
    if (const auto *number = std::get_if<uint64_t>(&cell)) {
      value.kind = ValueKind::Number;
      value.number = *number;
    } else if (const auto *real = std::get_if<double>(&cell)) {
      value.kind = ValueKind::Real;
      value.real = *real;
    } else if (const auto *text = std::get_if<std::string>(&cell)) {
      value.kind = ValueKind::Text;
      value.text = text->c_str();
    } else if (const auto *site = std::get_if<AtSite>(&cell)) {
      value.kind = ValueKind::Site;
      value.number = site->site;
    }
    return value;
  }

  const Host &host_;
};

// Its memory may grow with the numbers of live blocks and of groups, but never with the number of events.
class Analyzer {
public:
  virtual ~Analyzer() = default;
  // The kinds of events for onEvent, as bits of bitOf(). Called once, before the first event.
  virtual uint32_t eventKinds() const { return 0; }
  virtual void onAlloc(const Block &, Birth, uint64_t /*time_ns*/) {}
  virtual void onFree(const Block &, Death, uint64_t /*time_ns*/) {}
  // Since its birth, the block has belonged to another place than onAlloc said.
  virtual void onRetarget(const Block & /*now*/, const Block & /*before*/, uint64_t /*time_ns*/) {}
  virtual void onEvent(const Event &) {}
  virtual void onProcessEnd(uint32_t /*process*/, Death, int /*exit_status*/, uint64_t /*time_ns*/) {}
  virtual void conclude(Conclusion &) = 0;
};

// Wraps the functions of a class as functions of Plugin. No exception leaves the shared object. The class is hidden, so
// that two shared objects, even of different versions, share nothing.
template <class Type> class [[gnu::visibility("hidden")]] Functions {
public:
  static constexpr Plugin pluginNamed(const char *name) noexcept {
    return {kAnalyzerVersion, sizeof(Plugin), name,       make,    destroy,      eventKinds,
            onAlloc,          onFree,         onRetarget, onEvent, onProcessEnd, conclude};
  }

private:
  template <class Body> static const char *guarded(Body body) noexcept {
    static std::string what; // valid until the next call
    try {
      body();
      return nullptr;
    } catch (const std::exception &thrown) {
      try {
        what = thrown.what();
        return what.c_str();
      } catch (...) {
        return "out of memory";
      }
    } catch (...) {
      return "something that is no std::exception";
    }
  }
  static Analyzer &of(void *self) { return *static_cast<Analyzer *>(self); }

  static const char *make(void **self) {
    return guarded([&] { *self = static_cast<Analyzer *>(new Type()); });
  }
  static void destroy(void *self) {
    (void)guarded([&] { delete &of(self); });
  }
  static uint32_t eventKinds(void *self) {
    uint32_t kinds = 0;
    (void)guarded([&] { kinds = of(self).eventKinds(); });
    return kinds;
  }
  static const char *onAlloc(void *self, const Block *block, Birth birth, uint64_t time_ns) {
    return guarded([&] { of(self).onAlloc(*block, birth, time_ns); });
  }
  static const char *onFree(void *self, const Block *block, Death death, uint64_t time_ns) {
    return guarded([&] { of(self).onFree(*block, death, time_ns); });
  }
  static const char *onRetarget(void *self, const Block *now, const Block *before, uint64_t time_ns) {
    return guarded([&] { of(self).onRetarget(*now, *before, time_ns); });
  }
  static const char *onEvent(void *self, const Event *event) {
    return guarded([&] { of(self).onEvent(*event); });
  }
  static const char *onProcessEnd(void *self, uint32_t process, Death death, int32_t exit_status, uint64_t time_ns) {
    return guarded([&] { of(self).onProcessEnd(process, death, exit_status, time_ns); });
  }
  static const char *conclude(void *self, const Host *host) {
    return guarded([&] {
      Conclusion conclusion(*host);
      of(self).conclude(conclusion);
    });
  }
};

} // namespace msleaks::analyzer

extern "C" [[gnu::visibility("default")]] const msleaks::analyzer::Plugin __msl_analyzer;

// Use it once in a shared object, after the class. Names of findings and tables in the report begin with `name/`.
#define MSL_ANALYZER(name, Type)                                                                                       \
  const msleaks::analyzer::Plugin __msl_analyzer = msleaks::analyzer::Functions<Type>::pluginNamed(#name);
