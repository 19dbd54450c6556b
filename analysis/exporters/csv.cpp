// csv: dumps as msMemScope writes them, for its tools (docs/formats.md). Cells are quoted as in RFC 4180.
#include "analysis/exporters/msmemscope_rows.h"
#include "analysis/exporters/registry.h"

#include <fmt/format.h>
#include <iterator>

namespace msleaks::analysis::inline exporters {
namespace {

class CsvFile final : public DumpFile {
public:
  explicit CsvFile(std::ostream &to) : to_(to) {
    for (const std::string_view column : kDumpColumns)
      addCell(column);
    endRow();
  }
  void add(const DumpedRow &row) override {
    addCell(row.id);
    addCell(row.event);
    addCell(row.type);
    addCell(row.name);
    addCell(row.time_ns);
    addCell(row.pid);
    addCell(row.tid);
    addCell(row.device);
    addCell(row.pointer);
    addCell(row.attributes);
    addCell(row.python_stack);
    addCell(row.c_stack);
    endRow();
  }
  void finish() override { flush(); }

private:
  static constexpr size_t kFlushBytes = 64 << 10;

  void addCell(uint64_t number) {
    separate();
    fmt::format_to(std::back_inserter(text_), "{}", number);
  }
  void addCell(std::string_view text) {
    separate();
    if (text.find_first_of("\",\r\n") == std::string_view::npos)
      return text_.append(text);
    text_.push_back('"');
    for (size_t quote; (quote = text.find('"')) != std::string_view::npos; text.remove_prefix(quote + 1)) {
      text_.append(text.substr(0, quote));
      text_.append(std::string_view("\"\""));
    }
    text_.append(text);
    text_.push_back('"');
  }
  void separate() {
    if (!begins_)
      text_.push_back(',');
    begins_ = false;
  }
  void endRow() {
    text_.push_back('\n');
    begins_ = true;
    if (text_.size() >= kFlushBytes)
      flush();
  }
  void flush() {
    to_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    text_.clear();
  }

  std::ostream &to_;
  fmt::memory_buffer text_; // collects rows, because small writes to a stream are slow
  bool begins_ = true;      // a row
};

class CsvExporter final : public MsmemscopeExporter {
protected:
  std::unique_ptr<DumpFile> make(OutputFolder &folder, const std::string &name) override {
    return std::make_unique<CsvFile>(folder.file(name + ".csv"));
  }
};

} // namespace

MSL_REGISTER_FOLDER_EXPORTER(csv, "events and blocks, as a folder of msMemScope's CSV dumps", CsvExporter)

} // namespace msleaks::analysis::inline exporters
