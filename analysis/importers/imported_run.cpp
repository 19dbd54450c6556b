#include "analysis/importers/imported_run.h"

#include "analysis/base/run_folder.h"
#include "analysis/base/text.h"
#include "analysis/importers/foreign_events.h"
#include "analysis/importers/registry.h"
#include "analysis/importers/unpacked_stream.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <stdlib.h>
#include <system_error>

namespace msleaks::analysis::inline importers {

namespace fs = std::filesystem;

namespace {

constexpr int kDeepestFolder = 3; // PROCESS/DEVICE/dump

// Returns the dumps that the path names. If a folder has both forms, only the CSV files are read.
std::vector<fs::path> dumpsOf(const fs::path &path) {
  std::error_code error;
  if (fs::is_regular_file(path, error))
    return isDumpFile(path) ? std::vector{path} : std::vector<fs::path>{};
  if (fs::exists(path / kTraceFile, error) || !fs::is_directory(path, error))
    return {};
  std::vector<fs::path> texts, databases;
  for (fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied, error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry.depth() == kDeepestFolder)
      entry.disable_recursion_pending();
    const std::string name = entry->path().filename().string();
    if (name.find("_dump_") == std::string::npos || !isDumpFile(entry->path()))
      continue;
    (entry->path().extension() == ".csv" ? texts : databases).push_back(entry->path());
  }
  std::vector<fs::path> &dumps = texts.empty() ? databases : texts;
  std::ranges::sort(dumps);
  return dumps;
}

} // namespace

static Result<void> importDumps(const fs::path &path, const RunFolder &folder) {
  ForeignEvents events;
  for (const fs::path &dump : dumpsOf(path))
    MSL_TRY(forEachForeignRow(dump, [&](const ForeignRow &row) { events.add(row); }));
  if (events.empty())
    return fail(fmt::format("'{}': the dump has no rows that msleaks can use", path.string()));
  return events.write(folder, path.string());
}

static Result<void> importFile(const fs::path &file, const Importer &importer, const RunFolder &folder) {
  ForeignRun run = MSL_TRY(ForeignRun::create(folder, file.string()));
  UnpackedStream in(file);
  auto read = importer.read(in, run);
  if (const auto whole = in.whole(); !whole && !read) // the importer has missed what is not there
    read = whole;
  else if (!whole)
    run.markCut();
  if (!read)
    return fail(fmt::format("'{}': {}", file.string(), printable(read.error().message)), read.error().status);
  return run.finish();
}

static std::optional<Importer> importerOfFile(const fs::path &path) {
  std::error_code error;
  return fs::is_regular_file(path, error) ? importerOf(path) : std::nullopt;
}

bool ImportedRun::isForeign(const fs::path &path) { return !dumpsOf(path).empty() || importerOfFile(path); }

Result<std::unique_ptr<ImportedRun>> ImportedRun::read(const fs::path &path) {
  std::string pattern = (fs::temp_directory_path() / "msleaks-import-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    return fail(fmt::format("cannot make a folder in '{}'", fs::temp_directory_path().string()), ExitStatus::OwnFault);
  std::unique_ptr<ImportedRun> imported(new ImportedRun(pattern));
  const auto folder = MSL_TRY(RunFolder::create(imported->run_));
  if (const auto importer = importerOfFile(path); importer && dumpsOf(path).empty())
    MSL_TRY(importFile(path, *importer, folder));
  else
    MSL_TRY(importDumps(path, folder));
  return imported;
}

ImportedRun::~ImportedRun() {
  std::error_code error;
  fs::remove_all(folder_, error);
}

Result<std::string> OpenedRuns::open(const std::string &run) {
  if (!ImportedRun::isForeign(run))
    return run;
  imported_.push_back(MSL_TRY(ImportedRun::read(run)));
  return imported_.back()->path().string();
}

} // namespace msleaks::analysis::inline importers
