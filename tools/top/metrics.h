// Publishes the numbers of a running session for dashboards, until the session ends (docs/metrics.md).
#pragma once

#include "analysis/base/result.h"
#include "top/http_server.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace msleaks::tools {

// A file, or an address at which a server answers.
struct MetricsTarget {
  std::string file;                 // if there is no endpoint
  std::optional<Endpoint> endpoint; // answers GET /metrics

  // Reads "ADDRESS:PORT", ":PORT" on this machine only, or the name of a file. A name with a slash is always a file.
  static Result<MetricsTarget> of(std::string_view text);
};

// `places`: the number of places with samples of their own. A file is replaced each interval.
Result<ExitStatus> publishMetrics(const std::string &run, const MetricsTarget &, uint64_t interval_ns, size_t places);

} // namespace msleaks::tools
