// db: dumps as msMemScope writes them into databases of SQLite, for MindStudio Insight (docs/formats.md).
#include "analysis/exporters/msmemscope_rows.h"
#include "analysis/exporters/registry.h"

#include <fmt/format.h>
#include <memory>
#include <sqlite3.h>
#include <string>

namespace msleaks::analysis::inline exporters {
namespace {

// One transaction contains all rows. The file has another name until it is complete, so it needs no journal.
constexpr char kCreate[] = R"sql(PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;
CREATE TABLE memscope_dump (ID INTEGER, "Event" TEXT, "Event Type" TEXT, "Name" TEXT, "Timestamp(ns)" INTEGER,
  "Process Id" INTEGER, "Thread Id" INTEGER, "Device Id" TEXT, "Ptr" TEXT, "Attr" TEXT, "Call Stack(Python)" TEXT,
  "Call Stack(C)" TEXT);
BEGIN)sql";
constexpr char kInsert[] = "INSERT INTO memscope_dump VALUES (?,?,?,?,?,?,?,?,?,?,?,?)";

class DatabaseFile final : public DumpFile {
public:
  DatabaseFile(OutputFolder &folder, const std::string &name) : folder_(folder), name_(name) {
    sqlite3 *opened = nullptr;
    const int status = sqlite3_open(folder.place(name).c_str(), &opened);
    database_.reset(opened);
    check(status);
    if (!has_failed_)
      check(sqlite3_exec(opened, kCreate, nullptr, nullptr, nullptr));
    sqlite3_stmt *insert = nullptr;
    if (!has_failed_)
      check(sqlite3_prepare_v2(opened, kInsert, -1, &insert, nullptr));
    insert_.reset(insert);
  }
  void add(const DumpedRow &row) override {
    if (has_failed_)
      return;
    int column = 0;
    const auto addNumber = [&](uint64_t number) {
      check(sqlite3_bind_int64(insert_.get(), ++column, static_cast<sqlite3_int64>(number)));
    };
    const auto addText = [&](std::string_view text) {
      check(sqlite3_bind_text64(insert_.get(), ++column, text.data() ? text.data() : "", text.size(), SQLITE_STATIC,
                                SQLITE_UTF8));
    };
    addNumber(row.id);
    for (const std::string_view text : {row.event, row.type, std::string_view(row.name)})
      addText(text);
    for (const uint64_t number : {row.time_ns, uint64_t{row.pid}, uint64_t{row.tid}})
      addNumber(number);
    for (const std::string_view text : {row.device, row.pointer, row.attributes, row.python_stack, row.c_stack})
      addText(text);
    check(sqlite3_step(insert_.get()));
    check(sqlite3_reset(insert_.get()));
  }
  void finish() override {
    insert_.reset();
    if (!has_failed_)
      check(sqlite3_exec(database_.get(), "COMMIT", nullptr, nullptr, nullptr));
    database_.reset();
  }

private:
  struct Close {
    void operator()(sqlite3 *database) const { sqlite3_close_v2(database); }
    void operator()(sqlite3_stmt *statement) const { sqlite3_finalize(statement); }
  };

  void check(int status) {
    if (has_failed_ || status == SQLITE_OK || status == SQLITE_DONE)
      return;
    has_failed_ = true;
    folder_.refuse({fmt::format("cannot write '{}': {}", name_,
                                database_ ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(status)),
                    ExitStatus::OwnFault});
  }

  OutputFolder &folder_;
  std::string name_;
  std::unique_ptr<sqlite3, Close> database_;
  std::unique_ptr<sqlite3_stmt, Close> insert_; // is destroyed before the database
  bool has_failed_ = false;
};

class DbExporter final : public MsmemscopeExporter {
protected:
  std::unique_ptr<DumpFile> make(OutputFolder &folder, const std::string &name) override {
    return std::make_unique<DatabaseFile>(folder, name + ".db");
  }
};

} // namespace

MSL_REGISTER_FOLDER_EXPORTER(db, "events and blocks, as a folder of msMemScope's databases", DbExporter)

} // namespace msleaks::analysis::inline exporters
