#include "analysis/exporters/trace_names.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace msleaks::analysis::inline exporters {

TraceNames::TraceNames(const TraceReader &trace, const Labels &labels) : labels_(labels) {
  for (const ProcessStart &process : trace.processes()) {
    pids_[process.process] = process.pid;
    start_ns_ = std::min(start_ns_, process.time_ns);
  }
  trace.forEachAccount([&](const StreamAccount &stream) { tids_[{stream.process, stream.stream}] = stream.tid; });
}

template <class Map> static std::optional<uint32_t> valueOf(const Map &map, const typename Map::key_type &key) {
  const auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

std::optional<uint32_t> TraceNames::pid(uint32_t process) const { return valueOf(pids_, process); }

std::optional<uint32_t> TraceNames::tid(uint32_t process, uint32_t stream) const {
  return valueOf(tids_, {process, stream});
}

std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string TraceNames::quotedLabel(uint32_t process, uint64_t number) const {
  const LabelId label = labels_.find(process, number);
  if (!label.known())
    return "null";
  return quoted(labels_.textOf(label));
}

} // namespace msleaks::analysis::inline exporters
