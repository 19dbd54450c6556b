// parquet: a folder of Parquet files with the events and the blocks, for DuckDB, pandas, Spark and others
// (docs/formats.md).
#include "analysis/base/text.h"
#include "analysis/exporters/arrow_process.h"
#include "analysis/exporters/cause_names.h"
#include "analysis/exporters/kernel_facts.h"
#include "analysis/exporters/numbered.h"
#include "analysis/exporters/registry.h"
#include "analysis/exporters/trace_names.h"
#include "analysis/live/owners.h"
#include "analysis/places/place.h"
#include "analysis/text/site_text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <utility>

namespace msleaks::analysis::inline exporters {
namespace {

constexpr uint64_t kRowsOfGroup = 128 << 10; // DuckDB reads groups of about this size in parallel

// A table that is written group by group.
class RowTable {
public:
  RowTable(uint32_t file, ArrowProcess &arrow) : file_(file), arrow_(arrow) {}

  // Call it before the first row. A name that exists keeps its column, which becomes wide enough for both.
  size_t add(const std::string &name, ArrowType type) {
    const auto [at, is_new] = numbers_.try_emplace(name, columns_.size());
    if (is_new)
      columns_.emplace_back(name, type);
    else if (columns_[at->second].type() < type)
      columns_[at->second] = ArrowColumn(name, type);
    return at->second;
  }
  void set(size_t column, uint64_t value) { columns_[column].set(row_, value); }
  void setText(size_t column, uint32_t number, std::string_view text) { columns_[column].setText(row_, number, text); }
  void endRow() {
    if (++row_ == kRowsOfGroup)
      flush();
  }
  void flush() {
    if (row_ != 0)
      arrow_.write(file_, columns_, row_);
    row_ = 0;
  }
  const std::vector<ArrowColumn> &columns() const { return columns_; }

private:
  uint32_t file_;
  ArrowProcess &arrow_;
  std::map<std::string, size_t> numbers_;
  std::vector<ArrowColumn> columns_;
  uint64_t row_ = 0;
};

ArrowType typeOfBytes(size_t bytes) {
  return bytes <= 1 ? ArrowType::U8 : bytes == 2 ? ArrowType::U16 : bytes == 4 ? ArrowType::U32 : ArrowType::U64;
}

// The columns of a block.
struct BlockColumns {
  explicit BlockColumns(RowTable &table)
      : block(table.add("block", ArrowType::U64)), begin_ns(table.add("begin_ns", ArrowType::U64)),
        end_ns(table.add("end_ns", ArrowType::U64)), allocated_ns(table.add("allocated_ns", ArrowType::U64)),
        pid(table.add("pid", ArrowType::U32)), tid(table.add("tid", ArrowType::U32)),
        address(table.add("address", ArrowType::U64)), bytes(table.add("bytes", ArrowType::U64)),
        heap(table.add("heap", ArrowType::Text)), device(table.add("device", ArrowType::U8)),
        physical(table.add("physical", ArrowType::U8)), reserved(table.add("reserved", ArrowType::U8)),
        begin(table.add("begin", ArrowType::Text)), end(table.add("end", ArrowType::Text)),
        place(table.add("place", ArrowType::Text)), owner(table.add("owner", ArrowType::Text)),
        module(table.add("module", ArrowType::Text)), first_use_ns(table.add("first_use_ns", ArrowType::U64)),
        last_use_ns(table.add("last_use_ns", ArrowType::U64)) {}
  size_t block, begin_ns, end_ns, allocated_ns, pid, tid, address, bytes, heap, device, physical, reserved, begin, end,
      place, owner, module, first_use_ns, last_use_ns;
};

// The columns of an event: those of all kinds, and the fields of each kind in their order.
struct EventColumns {
  explicit EventColumns(RowTable &table)
      : time_ns(table.add("time_ns", ArrowType::U64)), event(table.add("event", ArrowType::Text)),
        pid(table.add("pid", ArrowType::U32)), tid(table.add("tid", ArrowType::U32)),
        heap(table.add("heap", ArrowType::Text)), device(table.add("device", ArrowType::U8)),
        flags(table.add("flags", ArrowType::Text)), place(table.add("place", ArrowType::Text)),
        name(table.add("name", ArrowType::Text)) {
#define MSL_EVENT(name, number, slots, doc) addFields<abi::name##Event>(table);
#include "msleaks/abi/events.def"
  }
  template <class Event> void addFields(RowTable &table) {
    const Event event{};
    abi::visitFields(event, [&](const char *name, abi::Repr repr, auto value) {
      const ArrowType type = repr == abi::Repr::Label ? ArrowType::Text : typeOfBytes(sizeof value);
      fields[static_cast<size_t>(Event::kKind)].push_back(holdsAnything(name) ? table.add(name, type) : SIZE_MAX);
    });
  }
  size_t time_ns, event, pid, tid, heap, device, flags, place, name;
  std::array<std::vector<size_t>, 256> fields; // by kind; SIZE_MAX: the field contains nothing
};

class ParquetExporter final : public BlockExporter {
public:
  uint32_t eventKinds() const override { return UINT32_MAX; }
  Result<void> prepare() override;
  void begin(ReadRun &) override;
  void onAlloc(ReadRun &, const Block &, BlockNumber, AllocCause, uint64_t time_ns) override;
  void onFree(ReadRun &, const Block &, BlockNumber, FreeCause, uint64_t time_ns) override;
  void onUse(ReadRun &, const Block &, BlockNumber, const Use &) override;
  void onEvent(ReadRun &, const StreamEvent &, SiteId) override;
  void end(ReadRun &) override;

private:
  // A live block's row so far.
  struct Begun {
    uint64_t time_ns = 0, first_use_ns = 0, last_use_ns = 0;
    AllocCause cause = AllocCause::Allocated;
  };
  struct Ids {
    std::optional<uint32_t> pid, tid;
  };
  // A table with its columns.
  template <class Columns> struct Rows {
    Rows(uint32_t file, ArrowProcess &arrow) : table(file, arrow), columns(table) {}
    RowTable table;
    Columns columns;
  };

  const Ids &idsOf(uint32_t process, uint32_t stream);
  template <class Columns> void setIds(Rows<Columns> &, uint32_t process, uint32_t stream);
  // The number of a text + 1 by a number that stands for it; 0 = not asked yet.
  using TextNumbers = std::vector<uint32_t>;
  // Sets the text that `textOf` returns. An empty text is not known.
  template <class TextOf>
  void setText(RowTable &table, size_t column, TextNumbers &numbers, size_t index, TextOf &&textOf) {
    uint32_t &number = elementAt(numbers, index);
    if (number == 0)
      number = static_cast<uint32_t>(texts_.numberOf(std::string(textOf()))) + 1;
    if (const std::string &text = *texts_.items()[number - 1]; !text.empty())
      table.setText(column, number - 1, text);
  }
  void setPlace(RowTable &, size_t column, SiteCatalog &, SiteId);
  void setLabel(size_t column, const Labels &, LabelId);
  void setFields(ReadRun &, const StreamEvent &);
  void stopIfFailed();
  void complete();

  std::unique_ptr<ArrowProcess> arrow_;
  bool is_complete_ = false; // or has failed
  std::optional<Rows<EventColumns>> events_;
  std::optional<Rows<BlockColumns>> blocks_;
  std::optional<TraceNames> names_;
  std::optional<Places> places_;
  Numbered<std::string> texts_;
  TextNumbers heaps_, kinds_, flags_, begins_, ends_;
  TextNumbers place_texts_, owners_, modules_, labels_; // by site, by cohort, by label
  std::vector<Begun> begun_;                            // by the block's number in the live set
  std::map<std::pair<uint32_t, uint32_t>, Ids> ids_;
  std::pair<uint32_t, uint32_t> last_thread_{UINT32_MAX, UINT32_MAX};
  const Ids *last_ids_ = nullptr;
};

Result<void> ParquetExporter::prepare() {
  arrow_ = MSL_TRY(ArrowProcess::start());
  return {};
}

void ParquetExporter::begin(ReadRun &run) {
  names_.emplace(run.trace, run.catalog.labels());
  places_.emplace(run.catalog);
  events_.emplace(0, *arrow_);
  blocks_.emplace(1, *arrow_);
  const Report &report = run.report;
  arrow_->open({{folder().place("events.parquet"), &events_->table.columns()},
                {folder().place("blocks.parquet"), &blocks_->table.columns()}},
               {{"msleaks.command", printable(fmt::format("{}", fmt::join(report.command, " ")))},
                {"msleaks.start_ns", fmt::to_string(report.start_ns)},
                {"msleaks.duration_ns", fmt::to_string(report.duration_ns)},
                {"msleaks.peak_ns", fmt::to_string(report.peak.time_ns)},
                {"msleaks.peak_bytes", fmt::to_string(report.peak.bytes)},
                {"msleaks.events_dropped", fmt::to_string(report.events.dropped)},
                {"msleaks.events_missing", fmt::to_string(report.events.missing)}});
}

const ParquetExporter::Ids &ParquetExporter::idsOf(uint32_t process, uint32_t stream) {
  const std::pair thread(process, stream);
  if (thread == last_thread_)
    return *last_ids_;
  const auto [at, is_new] = ids_.try_emplace(thread);
  if (is_new)
    at->second = {names_->pid(process), names_->tid(process, stream)};
  last_thread_ = thread;
  last_ids_ = &at->second; // elements of a map do not move
  return *last_ids_;
}

template <class Columns> void ParquetExporter::setIds(Rows<Columns> &rows, uint32_t process, uint32_t stream) {
  const Ids &ids = idsOf(process, stream);
  if (ids.pid)
    rows.table.set(rows.columns.pid, *ids.pid);
  if (ids.tid)
    rows.table.set(rows.columns.tid, *ids.tid);
}

void ParquetExporter::setPlace(RowTable &table, size_t column, SiteCatalog &catalog, SiteId site) {
  if (site.known())
    setText(table, column, place_texts_, site.index,
            [&] { return placeOf(textOf(catalog, places_->of(site)), SIZE_MAX); });
}

void ParquetExporter::setLabel(size_t column, const Labels &labels, LabelId label) {
  if (label.known())
    setText(events_->table, column, labels_, label.index, [&] { return printable(labels.textOf(label)); });
}

// The names of all flags, joined by "|".
std::string namesOfFlags(const abi::EventHeader &header) {
  std::string text;
  forEachFlag(header, [&](std::string_view flag) { text.append(text.empty() ? "" : "|").append(flag); });
  return text;
}

void ParquetExporter::onAlloc(ReadRun &, const Block &block, BlockNumber, AllocCause cause, uint64_t time_ns) {
  elementAt(begun_, block.id.index) = {.time_ns = time_ns, .cause = cause};
}

void ParquetExporter::onUse(ReadRun &, const Block &block, BlockNumber, const Use &use) {
  Begun &begun = elementAt(begun_, block.id.index);
  if (begun.first_use_ns == 0)
    begun.first_use_ns = use.time_ns;
  begun.last_use_ns = use.time_ns;
}

void ParquetExporter::onFree(ReadRun &run, const Block &block, BlockNumber number, FreeCause cause, uint64_t time_ns) {
  RowTable &table = blocks_->table;
  const BlockColumns &columns = blocks_->columns;
  const Begun begun = valueAt(begun_, block.id.index);
  const Cohort &cohort = run.cohorts[block.cohort];
  table.set(columns.block, number);
  table.set(columns.begin_ns, begun.time_ns);
  table.set(columns.end_ns, time_ns);
  table.set(columns.allocated_ns, block.time_ns);
  setIds(*blocks_, block.process, block.stream);
  table.set(columns.address, block.address);
  table.set(columns.bytes, block.bytes());
  setText(table, columns.heap, heaps_, static_cast<size_t>(block.heap), [&] { return abi::nameOf(block.heap); });
  table.set(columns.device, block.device);
  table.set(columns.physical, abi::isPhysical(block.heap) && !block.reserve ? 1 : 0);
  table.set(columns.reserved, block.reserve);
  setText(table, columns.begin, begins_, static_cast<size_t>(begun.cause), [&] { return nameOf(begun.cause); });
  setText(table, columns.end, ends_, static_cast<size_t>(cause), [&] { return nameOfEnd(cause); });
  setPlace(table, columns.place, run.catalog, block.site);
  setText(table, columns.owner, owners_, block.cohort.index, [&] { return printable(ownerOf(cohort, run.catalog)); });
  setText(table, columns.module, modules_, block.cohort.index,
          [&] { return printable(moduleOf(cohort, run.catalog)); });
  if (begun.first_use_ns != 0) {
    table.set(columns.first_use_ns, begun.first_use_ns);
    table.set(columns.last_use_ns, begun.last_use_ns);
  }
  table.endRow();
  stopIfFailed();
}

void ParquetExporter::onEvent(ReadRun &run, const StreamEvent &event, SiteId site) {
  RowTable &table = events_->table;
  const EventColumns &columns = events_->columns;
  const abi::EventHeader &header = event.event.header();
  table.set(columns.time_ns, header.time);
  setText(table, columns.event, kinds_, static_cast<size_t>(header.kind), [&] { return abi::nameOf(header.kind); });
  if (const auto kernel = kernelFactsOf(event.event)) {
    table.set(columns.pid, kernel->pid);
    table.set(columns.tid, kernel->tid);
  } else {
    setIds(*events_, event.process, event.stream);
  }
  setText(table, columns.heap, heaps_, static_cast<size_t>(header.heap), [&] { return abi::nameOf(header.heap); });
  table.set(columns.device, header.device);
  setText(table, columns.flags, flags_, header.flags, [&] { return namesOfFlags(header); });
  setPlace(table, columns.place, run.catalog, site);
  setFields(run, event);
  table.endRow();
  stopIfFailed();
}

void ParquetExporter::setFields(ReadRun &run, const StreamEvent &event) {
  const EventColumns &columns = events_->columns;
  const auto kind = event.event.header().kind;
  const Labels &labels = run.catalog.labels();
  const size_t *column = columns.fields[static_cast<size_t>(kind)].data();
  abi::dispatch(event.event, [&](const auto &fields) {
    abi::visitFields(fields, [&](const char *, abi::Repr repr, auto value) {
      const size_t at = *column++;
      if (repr == abi::Repr::Label)
        setLabel(at, labels, labels.find(event.process, value));
      else if (at != SIZE_MAX)
        events_->table.set(at, static_cast<uint64_t>(value));
    });
  });
  if (kind == abi::EventKind::Launch)
    setLabel(columns.name, labels, run.kernels.nameOf(event.process, event.event.as<abi::LaunchEvent>().kernel));
}

// The reading ends, because the folder has an error then.
void ParquetExporter::stopIfFailed() {
  if (!arrow_->good()) [[unlikely]]
    complete();
}

void ParquetExporter::complete() {
  if (std::exchange(is_complete_, true))
    return;
  if (const auto finished = arrow_->finish(); !finished)
    folder().refuse(finished.error());
}

void ParquetExporter::end(ReadRun &) {
  events_->table.flush();
  blocks_->table.flush();
  complete();
}

} // namespace

MSL_REGISTER_FOLDER_EXPORTER(parquet, "events and blocks, as a folder of Parquet files", ParquetExporter)

} // namespace msleaks::analysis::inline exporters
