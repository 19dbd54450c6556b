#include "analysis/counts/lnt_report.h"

#include <array>
#include <fmt/chrono.h>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>

namespace msleaks::analysis::profiles {
namespace {

using Json = nlohmann::ordered_json;

// Writes the time as LNT reads it: in UTC, without a zone.
std::string timeText(int64_t seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(static_cast<time_t>(seconds)));
}

// perf's clock events count nanoseconds. An ending like ":u" says in which mode of the processor the event counts.
bool isClock(std::string_view counter) {
  const std::string_view event = counter.substr(0, counter.find(':'));
  return event == "cpu-clock" || event == "task-clock";
}

} // namespace

std::pair<std::string, double> metricOf(const Profile &profile) {
  for (const auto &[name, value] : profile.counters)
    if (isClock(name) && value > 0)
      return {"execution_time", static_cast<double>(value) / 1e9};
  double bytes = 0;
  for (const auto &[name, function] : profile.functions)
    if (!function.lines.empty())
      bytes += static_cast<double>(function.lines.back().address - function.lines.front().address);
  return {"code_size", bytes};
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (i < group.size() ? static_cast<uint8_t>(group[i]) : 0u);
    for (size_t i = 0; i < 4; ++i)
      text += i <= group.size() ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

void writeLntReport(std::ostream &out, const LntReport &report, std::string_view profile) {
  Json machine{{"name", report.machine}};
  for (const auto &[name, value] : report.machine_fields)
    machine[name] = value;
  Json run{{"start_time", timeText(report.start_time)}, {"end_time", timeText(report.end_time)}};
  for (const auto &[name, value] : report.run_fields)
    run[name] = value;
  Json test{{"name", report.test}};
  for (const auto &[name, values] : report.metrics)
    test[name] = values.size() == 1 ? Json(values.front()) : Json(values);
  test["profile"] = base64(profile);
  const Json whole{{"format_version", "2"}, {"machine", machine}, {"run", run}, {"tests", Json::array({test})}};
  out << whole.dump(2, ' ', true, Json::error_handler_t::replace) << '\n';
}

} // namespace msleaks::analysis::profiles
