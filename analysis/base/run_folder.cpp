#include "analysis/base/run_folder.h"

#include "analysis/base/files.h"
#include "analysis/base/json_fields.h"
#include "analysis/base/output.h"
#include "analysis/base/path_check.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>

namespace msleaks::analysis::inline base {

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
    return fail(fmt::format("no run folder '{}': {}", given.string(), describeErrno(error ? error.value() : ENOENT)));
  if (!fs::is_directory(status)) {
    const fs::path parent = given.parent_path();
    return RunFolder(parent.empty() ? "." : parent, given, {});
  }
  if (!fs::exists(given / kTraceFile, error) && !fs::exists(given / kManifestFile, error))
    return fail(
        fmt::format("'{}' is not a run folder: it has neither {} nor {}", given.string(), kTraceFile, kManifestFile));
  RunFolder folder(given, given / kTraceFile,
                   FileDescriptor(::open(given.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  // The trace is readable without a manifest. But if a newer msleaks wrote the manifest, the trace may differ, too.
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
  const auto file = MSL_TRY(InputFile::open(path));
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

// Lists each field of manifest.json once, for reading and writing.
template <class Visitor, IsOrConst<RunProcess> Process> static void visitFields(Visitor &&visit, Process &process) {
  visit("process", process.process);
  visit("pid", process.pid);
  visit("command", process.command);
  visit("exit_status", process.exit_status);
  visit("name", process.name);
  visit("rank", process.rank);
}

template <class Visitor, IsOrConst<KernelRefusal> Refusal> static void visitFields(Visitor &&visit, Refusal &refusal) {
  visit("mechanism", refusal.mechanism);
  visit("reason", refusal.reason);
  visit("errno", refusal.error);
}

template <class Visitor, IsOrConst<KernelCollector> Collector>
static void visitFields(Visitor &&visit, Collector &collector) {
  visit("name", collector.name);
  visit("state", collector.state);
  visit("mechanism", collector.mechanism);
  visit("reason", collector.reason);
  visit("errno", collector.error);
  visit("entered", collector.entered);
  visit("delivered", collector.delivered);
  visit("ring_full", collector.ring_full);
  visit("map_full", collector.map_full);
  visit("unreturned", collector.unreturned);
  visit("refusals", collector.refusals);
}

template <class Visitor, IsOrConst<Manifest> M> static void visitFields(Visitor &&visit, M &manifest) {
  visit("version", manifest.version);
  visit("state", manifest.state);
  visit("msleaks_version", manifest.msleaks_version);
  visit("session_dir", manifest.session_dir);
  visit("host", manifest.host);
  visit("start_realtime_ns", manifest.start_realtime_ns);
  visit("start_ns", manifest.start_ns);
  visit("end_ns", manifest.end_ns);
  visit("command", manifest.command);
  visit("processes", manifest.processes);
  visit("collector_cpu_ns", manifest.collector_cpu_ns);
  visit("options", manifest.options);
  visit("notes", manifest.notes);
  visit("source", manifest.source);
  visit("kernel", manifest.kernel);
}

namespace {

using Json = OrderedJson;

// The manifest's version, or 0 if it cannot be read.
uint32_t versionOf(const Json &object) {
  uint32_t version = 0;
  std::string wrong;
  if (object.is_object())
    FieldReader(object, "", wrong)("version", version);
  return version;
}

} // namespace

std::string formatManifest(const Manifest &manifest) {
  // A command line may contain any bytes. The call replaces bytes that are not UTF-8.
  return toJson(manifest).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<void> checkManifestVersion(std::string_view text, const std::string &where) {
  const uint32_t version = versionOf(Json::parse(text.begin(), text.end(), nullptr, false));
  if (version <= kManifestVersion)
    return {};
  return fail(
      fmt::format("'{}' was written by a newer msleaks (manifest version {}, this one reads up to {}): use that "
                  "version or a later one to read it",
                  where, version, kManifestVersion));
}

Result<Manifest> parseManifest(std::string_view text, const std::string &where) {
  MSL_TRY(checkManifestVersion(text, where));
  const Json object = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!object.is_object())
    return fail(fmt::format("'{}' is not a manifest of msleaks", where));
  if (versionOf(object) == 0)
    return fail(fmt::format("'{}' is not a manifest of msleaks: its version is missing", where));
  Manifest manifest;
  std::string wrong;
  visitFields(FieldReader(object, "", wrong), manifest);
  if (!wrong.empty())
    return fail(fmt::format("'{}': {} does not have the type of its field", where, wrong));
  return manifest;
}

} // namespace msleaks::analysis::inline base
