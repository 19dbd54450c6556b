#include "analysis/run/manifest_json.h"

#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace msleaks::analysis {

namespace {

// Each field of the file once, for both directions.
template <class Visitor, class Process>
  requires std::is_same_v<std::remove_const_t<Process>, RunProcess>
void visitFields(Visitor &&visit, Process &process) {
  visit("process", process.process);
  visit("pid", process.pid);
  visit("command", process.command);
  visit("exit_status", process.exit_status);
}

template <class Visitor, class M>
  requires std::is_same_v<std::remove_const_t<M>, Manifest>
void visitFields(Visitor &&visit, M &manifest) {
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

// Keys in the order of the list above.
using Json = nlohmann::ordered_json;

template <class T> Json toJson(const T &value) { return value; }

Json toJson(const RunProcess &process) {
  Json object = Json::object();
  visitFields([&](const char *key, const auto &value) { object[key] = value; }, process);
  return object;
}

Json toJson(const std::vector<RunProcess> &processes) {
  Json list = Json::array();
  for (const RunProcess &process : processes)
    list.push_back(toJson(process));
  return list;
}

// Takes values out of an object; what is missing keeps its default, of what does not fit the first is remembered.
class FieldReader {
public:
  FieldReader(const Json &object, std::string prefix, std::string &wrong)
      : object_(object), prefix_(std::move(prefix)), wrong_(wrong) {}

  template <class T> void operator()(const char *key, T &value) {
    const auto found = object_.find(key);
    if (found != object_.end() && !take(*found, value) && wrong_.empty())
      wrong_ = prefix_ + key;
  }

private:
  static bool take(const Json &json, std::string &value) {
    if (json.is_string())
      value = json.get<std::string>();
    return json.is_string();
  }
  template <class T>
    requires std::is_integral_v<T>
  static bool take(const Json &json, T &value) {
    if (json.is_number_unsigned() && std::in_range<T>(json.get<uint64_t>()))
      value = static_cast<T>(json.get<uint64_t>());
    else if (json.is_number_integer() && !json.is_number_unsigned() && std::in_range<T>(json.get<int64_t>()))
      value = static_cast<T>(json.get<int64_t>());
    else
      return false;
    return true;
  }
  static bool take(const Json &json, std::vector<std::string> &list) {
    if (!json.is_array())
      return false;
    for (const Json &item : json)
      if (!take(item, list.emplace_back()))
        return false;
    return true;
  }
  bool take(const Json &json, std::vector<RunProcess> &list) {
    if (!json.is_array())
      return false;
    for (const Json &item : json) {
      if (!item.is_object())
        return false;
      const std::string prefix = fmt::format("processes[{}].", list.size());
      visitFields(FieldReader(item, prefix, wrong_), list.emplace_back());
    }
    return true;
  }

  const Json &object_;
  std::string prefix_;
  std::string &wrong_;
};

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
  Json object = Json::object();
  visitFields([&](const char *key, const auto &value) { object[key] = toJson(value); }, manifest);
  // A command line may hold any bytes; what is not UTF-8 is replaced.
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
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
