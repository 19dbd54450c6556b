#include "analysis/base/log.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace msleaks::analysis::inline base {
namespace {

constexpr char kLevelVariable[] = "MSLEAKS_LOG";
constexpr std::string_view kLevels[] = {"trace", "debug", "info", "warning", "error", "off"};

} // namespace

Result<void> startLog(std::string_view program, const std::string &option) {
  const char *variable = std::getenv(kLevelVariable);
  std::string level = !option.empty() ? option : variable && *variable ? variable : "warning";
  if (level == "warn")
    level = "warning";
  if (std::find(std::begin(kLevels), std::end(kLevels), level) == std::end(kLevels))
    return fail(fmt::format("{}: no such log level; there are trace, debug, info, warning, error, off", level),
                ExitStatus::Usage);
  auto logger =
      std::make_shared<spdlog::logger>(std::string(program), std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%n: %l: %v");
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(std::move(logger));
  return {};
}

} // namespace msleaks::analysis::inline base
