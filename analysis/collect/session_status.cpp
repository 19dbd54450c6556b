#include "analysis/collect/session_status.h"

#include "analysis/base/run_folder.h"
#include "analysis/collect/control_socket.h"
#include "analysis/trace/trace_reader.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace msleaks::analysis::inline collect {
namespace {

namespace fs = std::filesystem;

Result<Manifest> manifestOf(const fs::path &run) {
  auto folder = RunFolder::open(run);
  if (folder) {
    const fs::path file = folder->path() / kManifestFile;
    if (::access(file.c_str(), R_OK) != 0 && errno == EACCES)
      return fail(fmt::format("{}: {}", file.string(), std::strerror(EACCES)), ExitStatus::OwnFault);
    return folder->readManifest();
  }
  if (::access(run.c_str(), X_OK) != 0 && errno == EACCES)
    folder.error().status = ExitStatus::OwnFault;
  return tl::make_unexpected(folder.error());
}

// Returns the status of a session without a collector, from its trace.
Result<SessionStatus> statusOfTrace(const fs::path &run) {
  auto folder = MSL_TRY(RunFolder::open(run));
  const auto reader = MSL_TRY(TraceReader::open(folder.trace()));
  SessionStatus status;
  status.processes = reader.processes().size();
  status.events.stored = reader.eventCount();
  reader.forEachAccount([&](const StreamAccount &stream) {
    status.events.dropped += stream.dropped;
    status.events.stalled_ns += stream.stalled_ns;
  });
  for (const ProcessEnd &end : reader.processEnds())
    status.events.dropped += end.dropped_no_ring;
  status.events.produced = status.events.stored + status.events.dropped;
  return status;
}

} // namespace

std::string jsonOf(const SessionStatus &status) {
  return nlohmann::json{{"state", status.state},
                        {"processes", status.processes},
                        {"events",
                         {{"produced", status.events.produced},
                          {"stored", status.events.stored},
                          {"dropped", status.events.dropped},
                          {"stalled_ns", status.events.stalled_ns}}},
                        {"since_ns", status.since_ns}}
      .dump();
}

Result<SessionStatus> parseStatus(const std::string &text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto number = [](const nlohmann::json &object, const char *key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
  };
  if (!json.is_object() || !json.contains("state") || !json["state"].is_string() || !json.contains("events") ||
      !json["events"].is_object())
    return fail("the collector's answer is no status: the collector is of another version of msleaks");
  const auto &events = json["events"];
  return SessionStatus{
      json["state"].get<std::string>(),
      number(json, "processes"),
      {number(events, "produced"), number(events, "stored"), number(events, "dropped"), number(events, "stalled_ns")},
      number(json, "since_ns")};
}

Result<fs::path> runningSession(const fs::path &run) {
  const auto manifest = MSL_TRY(manifestOf(run));
  if (manifest.state != "running")
    return fail(fmt::format("{}: its session has ended", run.string()));
  return fs::path(manifest.session_dir);
}

Result<SessionStatus> statusOfRun(const fs::path &run) {
  const auto manifest = MSL_TRY(manifestOf(run));
  if (manifest.state == "running") {
    const auto answer = askSession(manifest.session_dir, "status");
    if (answer)
      return parseStatus(answer->text);
    if (answer.error().status != ExitStatus::BadInput)
      return tl::make_unexpected(answer.error());
  }
  auto status = statusOfTrace(run);
  if (!status)
    return status;
  std::error_code unreadable;
  const bool orphaned =
      manifest.state == "running" && fs::exists(fs::path(manifest.session_dir) / abi::kControlFile, unreadable);
  status->state = orphaned ? "orphaned" : "ended";
  status->since_ns = manifest.end_ns;
  return status;
}

} // namespace msleaks::analysis::inline collect
