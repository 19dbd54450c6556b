// The folder of one session: manifest.json, trace.mslt and series.json (docs/session-folder.md).
#pragma once

#include "analysis/base/files.h"
#include "analysis/base/kernel_collector.h"
#include "analysis/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline base {

inline constexpr char kManifestFile[] = "manifest.json";
inline constexpr char kTraceFile[] = "trace.mslt";
inline constexpr char kSeriesFile[] = "series.json"; // the memory over time (result/series.h)
inline constexpr char kContentFolder[] = "watch";    // contents of watched blocks, if the user asked for them

struct RunProcess {
  uint32_t process = 0; // number in the trace; 0 = it never attached
  uint32_t pid = 0;
  std::vector<std::string> command;
  int exit_status = -1;  // as a shell reports it: 0..255, 128 + signal; -1 = not known
  std::string name = {}; // that the process had at last; empty = not known
  std::optional<uint32_t> rank = {};
};

// The content of manifest.json. It is written when the session starts (state "running") and when the session ends
// (state "complete"). `msleaks recover` writes the state "recovered".
struct Manifest {
  uint32_t version = 1;
  std::string state;
  std::string msleaks_version;
  std::string session_dir; // shared memory of the session while it runs
  std::string host;
  uint64_t start_realtime_ns = 0;
  uint64_t start_ns = 0, end_ns = 0; // CLOCK_MONOTONIC
  std::vector<std::string> command;
  std::vector<RunProcess> processes;
  uint64_t collector_cpu_ns = 0;
  std::vector<std::string> options;    // as the user gave them
  std::vector<std::string> notes;      // what msleaks could not see, and why
  std::vector<KernelCollector> kernel; // kernel evidence, if the user asked for any
  std::string source;                  // the tool that recorded the run, for example "msmemscope"; empty: msleaks-run
};

class RunFolder {
public:
  // Checks the path (path_check.h) and makes the folder with mode 0750. A folder that exists must be empty.
  static Result<RunFolder> create(const std::filesystem::path &folder);
  // Opens an existing run folder. Fails if a newer msleaks wrote it. `folder` may also be the path of the trace file.
  static Result<RunFolder> open(const std::filesystem::path &folder);

  const std::filesystem::path &path() const { return path_; }
  const std::filesystem::path &trace() const { return trace_; }
  // The open folder: files are made in it even if its path now leads elsewhere. AT_FDCWD if it could not be opened.
  int descriptor() const;

  Result<Manifest> readManifest() const;
  Result<void> writeManifest(const Manifest &) const; // writes a temporary file, and renames it

private:
  RunFolder(std::filesystem::path path, std::filesystem::path trace, FileDescriptor folder)
      : path_(std::move(path)), trace_(std::move(trace)), folder_(std::move(folder)) {}
  Result<std::string> readManifestText() const;
  std::filesystem::path path_, trace_;
  FileDescriptor folder_;
};

// manifest.json: text <-> Manifest.
inline constexpr uint32_t kManifestVersion = 1;

std::string formatManifest(const Manifest &manifest);
// Fails only if a newer msleaks wrote the manifest. `where` is
// the file's name in the error.
Result<void> checkManifestVersion(std::string_view text, const std::string &where);
Result<Manifest> parseManifest(std::string_view text, const std::string &where);

} // namespace msleaks::analysis::inline base
