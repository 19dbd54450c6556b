#include "analysis/run/manifest_json.h"

#include "analysis/run/json_fields.h"

namespace msleaks::analysis {

// Each field of the file once, for both directions.
template <class Visitor, IsOrConst<RunProcess> Process> static void visitFields(Visitor &&visit, Process &process) {
  visit("process", process.process);
  visit("pid", process.pid);
  visit("command", process.command);
  visit("exit_status", process.exit_status);
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
}

namespace {

using Json = OrderedJson;

// 0: none that can be read.
uint32_t versionOf(const Json &object) {
  uint32_t version = 0;
  std::string wrong;
  if (object.is_object())
    FieldReader(object, "", wrong)("version", version);
  return version;
}

} // namespace

std::string formatManifest(const Manifest &manifest) {
  // A command line may hold any bytes; what is not UTF-8 is replaced.
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

} // namespace msleaks::analysis
