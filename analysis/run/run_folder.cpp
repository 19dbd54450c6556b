#include "analysis/run/run_folder.h"

#include "analysis/base/file_access.h"
#include "analysis/run/manifest_json.h"
#include "analysis/run/output_file.h"
#include "analysis/run/output_folder.h"
#include "analysis/run/path_check.h"

#include <cerrno>
#include <fcntl.h>

#include <fmt/format.h>

namespace msleaks::analysis {

namespace fs = std::filesystem;

namespace {

constexpr mode_t kFolderMode = 0750;
constexpr uint64_t kMaxManifestBytes = 256u << 20;

} // namespace

Result<RunFolder> RunFolder::create(const fs::path &given) {
  MSL_TRY(checkOutputFolder(given));
  fs::path folder = given.lexically_normal();
  if (!folder.has_filename())
    folder = folder.parent_path();
  auto made = MSL_TRY(makeOutputFolder(folder, kFolderMode));
  return RunFolder(folder, folder / kTraceFile, std::move(made));
}

Result<RunFolder> RunFolder::open(const fs::path &given) {
  std::error_code error;
  const fs::file_status status = fs::status(given, error);
  if (!fs::exists(status))
    return fail(
        fmt::format("no run folder '{}': {}", given.string(), trace::describeErrno(error ? error.value() : ENOENT)));
  if (!fs::is_directory(status)) {
    const fs::path parent = given.parent_path();
    return RunFolder(parent.empty() ? "." : parent, given, {});
  }
  if (!fs::exists(given / kTraceFile, error) && !fs::exists(given / kManifestFile, error))
    return fail(
        fmt::format("'{}' is not a run folder: it has neither {} nor {}", given.string(), kTraceFile, kManifestFile));
  RunFolder folder(given, given / kTraceFile,
                   FileDescriptor(::open(given.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  // A damaged or missing manifest leaves the trace readable; a newer one may mean that all of it is different.
  if (const Result<std::string> text = folder.readManifestText(); text)
    MSL_TRY(checkManifestVersion(*text, (given / kManifestFile).string()));
  return folder;
}

int RunFolder::descriptor() const { return folder_.valid() ? folder_.get() : AT_FDCWD; }

Result<Manifest> RunFolder::readManifest() const {
  const auto text = MSL_TRY(readManifestText());
  return parseManifest(text, (path_ / kManifestFile).string());
}

Result<std::string> RunFolder::readManifestText() const {
  const fs::path path = path_ / kManifestFile;
  const auto file = MSL_TRY(trace::InputFile::open(path));
  if (file.size() > kMaxManifestBytes)
    return fail(fmt::format("'{}' has {} bytes: no manifest is that long", path.string(), file.size()));
  std::string text(file.size(), '\0');
  const auto count = MSL_TRY(file.read(0, {reinterpret_cast<uint8_t *>(text.data()), text.size()}));
  text.resize(count);
  return text;
}

Result<void> RunFolder::writeManifest(const Manifest &manifest) const {
  auto file = MSL_TRY(OutputFile::create(path_ / kManifestFile, descriptor()));
  MSL_TRY(file.write(formatManifest(manifest)));
  return file.commit();
}

} // namespace msleaks::analysis
