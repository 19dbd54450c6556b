// The folder of one session: manifest.json, trace.mslt and series.json (docs/session-folder.md).
#pragma once

#include "analysis/base/files.h"
#include "analysis/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline base {

inline constexpr char kManifestFile[] = "manifest.json";
inline constexpr char kTraceFile[] = "trace.mslt";
inline constexpr char kSeriesFile[] = "series.json"; // the memory over time (result/series.h)
inline constexpr char kContentFolder[] = "watch";    // files with what watched blocks hold, where they are asked for

struct RunProcess {
  uint32_t process = 0; // number in the trace; 0 = it never attached
  uint32_t pid = 0;
  std::vector<std::string> command;
  int exit_status = -1; // as a shell reports it: 0..255, 128 + signal; -1 = not known
};

// The content of manifest.json. Written when the session starts (state "running") and again when it ends ("complete",
// or "recovered" by `msleaks recover`).
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
  std::vector<std::string> options; // as the user gave them
  std::vector<std::string> notes;   // what could not be seen, and why
};

class RunFolder {
public:
  // Makes the folder, 0750, and checks the path first (path_check.h). It must not exist, or be empty.
  static Result<RunFolder> create(const std::filesystem::path &folder);
  // Opens an existing one, unless a newer msleaks wrote it. `folder` may also be the trace file itself.
  static Result<RunFolder> open(const std::filesystem::path &folder);

  const std::filesystem::path &path() const { return path_; }
  const std::filesystem::path &trace() const { return trace_; }
  // The folder itself, for writing into it whatever has its name meanwhile; AT_FDCWD when it could not be opened.
  int descriptor() const;

  Result<Manifest> readManifest() const;
  Result<void> writeManifest(const Manifest &) const; // to a temporary name, then renamed

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
// `where` names the file in the error.
// Fails only on one that a newer msleaks wrote.
Result<void> checkManifestVersion(std::string_view text, const std::string &where);
Result<Manifest> parseManifest(std::string_view text, const std::string &where);

} // namespace msleaks::analysis::inline base
