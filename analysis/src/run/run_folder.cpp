#include "msleaks/analysis/run_folder.h"

#include "msleaks/analysis/output_file.h"
#include "msleaks/analysis/path_check.h"
#include "run/manifest_json.h"
#include "run/output_folder.h"
#include "trace/file_access.h"

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
  if (const Result<void> checked = checkOutputFolder(given); !checked)
    return tl::make_unexpected(checked.error());
  fs::path folder = given.lexically_normal();
  if (!folder.has_filename())
    folder = folder.parent_path();
  auto made = makeOutputFolder(folder, kFolderMode);
  if (!made)
    return tl::make_unexpected(made.error());
  return RunFolder(folder, folder / kTraceFile, std::move(*made));
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
    if (const Result<void> known = checkManifestVersion(*text, (given / kManifestFile).string()); !known)
      return tl::make_unexpected(known.error());
  return folder;
}

int RunFolder::descriptor() const { return folder_.valid() ? folder_.get() : AT_FDCWD; }

Result<Manifest> RunFolder::readManifest() const {
  const Result<std::string> text = readManifestText();
  if (!text)
    return tl::make_unexpected(text.error());
  return parseManifest(*text, (path_ / kManifestFile).string());
}

Result<std::string> RunFolder::readManifestText() const {
  const fs::path path = path_ / kManifestFile;
  const Result<trace::InputFile> file = trace::InputFile::open(path);
  if (!file)
    return tl::make_unexpected(file.error());
  if (file->size() > kMaxManifestBytes)
    return fail(fmt::format("'{}' has {} bytes: no manifest is that long", path.string(), file->size()));
  std::string text(file->size(), '\0');
  const Result<size_t> count = file->read(0, {reinterpret_cast<uint8_t *>(text.data()), text.size()});
  if (!count)
    return tl::make_unexpected(count.error());
  text.resize(*count);
  return text;
}

Result<void> RunFolder::writeManifest(const Manifest &manifest) const {
  Result<OutputFile> file = OutputFile::create(path_ / kManifestFile, descriptor());
  if (!file)
    return tl::make_unexpected(file.error());
  if (Result<void> written = file->write(formatManifest(manifest)); !written)
    return written;
  return file->commit();
}

} // namespace msleaks::analysis
