// A file of another tool as a trace of msleaks, so that every analysis can read it. The trace is in a temporary folder.
#pragma once

#include "analysis/base/result.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace msleaks::analysis::inline importers {

class ImportedRun {
public:
  // Whether the path names dumps of msMemScope: a file .csv or .db, or a folder with such files that is no run folder.
  // Or whether it names a file that an importer recognises (registry.h).
  static bool isForeign(const std::filesystem::path &);
  // Reads all of it. Needs about 100 bytes of memory for each row of a dump, because the rows need not be in order.
  static Result<std::unique_ptr<ImportedRun>> read(const std::filesystem::path &);
  ~ImportedRun(); // removes the temporary folder
  ImportedRun(const ImportedRun &) = delete;
  ImportedRun &operator=(const ImportedRun &) = delete;

  const std::filesystem::path &path() const { return run_; }

private:
  explicit ImportedRun(std::filesystem::path folder) : folder_(std::move(folder)), run_(folder_ / "run") {}
  std::filesystem::path folder_, run_;
};

// The runs that a verb reads. Imports those that are dumps, and keeps them until its end.
class OpenedRuns {
public:
  // Returns the path to read: `run` itself, or the imported one.
  Result<std::string> open(const std::string &run);

private:
  std::vector<std::unique_ptr<ImportedRun>> imported_;
};

} // namespace msleaks::analysis::inline importers
