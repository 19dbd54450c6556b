#include "analysis/counts/comparison.h"
#include "analysis/counts/escaped.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ostream>

namespace msleaks::analysis::profiles {
namespace {

using Json = nlohmann::json;

Json orNull(const std::optional<uint64_t> &value) { return value ? Json(*value) : Json(); }

Json functionOf(const ProfiledFunction *function) {
  return function ? Json{{"counters", function->counters}, {"length", function->lines.size()}} : Json();
}

// Makes the same JSON as `msleaks profile code` prints for a line.
Json lineOf(const ProfiledFunction *function, const ProfiledLine *line) {
  if (!function || !line)
    return {};
  Json counters = Json::object();
  size_t column = 0;
  for (const auto &[name, percent] : function->counters)
    counters[name] = line->shares[column++];
  return Json::array({std::move(counters), line->address, line->text});
}

} // namespace

void writeComparisonJson(std::ostream &out, const ProfileComparison &comparison) {
  Json counters = Json::array(), functions = Json::array();
  for (const ComparedCounter &counter : comparison.counters)
    counters.push_back({{"name", counter.name}, {"a", orNull(counter.first)}, {"b", orNull(counter.second)}});
  for (const ComparedFunction &function : comparison.functions) {
    Json lines = Json::array();
    for (const AlignedLines &pair : function.lines)
      lines.push_back({{"a", lineOf(function.first, pair.first)}, {"b", lineOf(function.second, pair.second)}});
    functions.push_back({{"name", function.name},
                         {"a", functionOf(function.first)},
                         {"b", functionOf(function.second)},
                         {"lines", std::move(lines)}});
  }
  const Json whole{
      {"counter", comparison.counter}, {"counters", std::move(counters)}, {"functions", std::move(functions)}};
  out << whole.dump(-1, ' ', true, Json::error_handler_t::replace) << '\n';
}

namespace {

constexpr size_t kFunctions = 20;
constexpr double kWarmPercent = 1; // LNT's page colours lines from this share on.
constexpr size_t kLeastHalf = 24, kMostHalf = 70, kShareColumns = 7;

// Returns the text cut or filled to `columns` columns. Tabs of a disassembly become spaces.
std::string cell(std::string_view text, size_t columns) {
  std::string spaced(text.substr(std::min(text.find_first_not_of(" \t"), text.size())));
  std::replace(spaced.begin(), spaced.end(), '\t', ' ');
  return fmt::format("{:{}.{}}", shown(spaced), columns, columns);
}

std::string share(const ProfiledFunction *function, const ProfiledLine *line, const std::string &counter) {
  if (!function || !line)
    return std::string(kShareColumns, ' ');
  const auto found = function->counters.find(counter);
  if (found == function->counters.end())
    return std::string(kShareColumns, ' ');
  const double percent = line->shares[static_cast<size_t>(std::distance(function->counters.begin(), found))];
  return percent == 0 ? std::string(kShareColumns, ' ') : fmt::format("{:>{}.2f}", percent, kShareColumns);
}

bool isWarm(const ProfiledFunction *function, const ProfiledLine *line) {
  return function && line &&
         std::any_of(line->shares.begin(), line->shares.end(), [](double percent) { return percent >= kWarmPercent; });
}

class Writer {
public:
  Writer(std::ostream &out, const ProfileComparison &comparison, size_t columns)
      : out_(out), comparison_(comparison),
        half_(std::clamp(columns / 2 - std::min<size_t>(columns / 2, kShareColumns + 3), kLeastHalf, kMostHalf)) {}

  void write() {
    writeCounters();
    writeFunctions();
    for (size_t i = 0; i < count(); ++i)
      writeLines(comparison_.functions[i]);
  }

private:
  size_t count() const { return std::min(comparison_.functions.size(), comparison_.top.value_or(kFunctions)); }

  void writeCounters() {
    for (const ComparedCounter &counter : comparison_.counters) {
      const auto number = [](const std::optional<uint64_t> &value) { return value ? fmt::to_string(*value) : "-"; };
      out_ << fmt::format("{:<24} {:>20} {:>20}", shown(counter.name), number(counter.first), number(counter.second));
      if (counter.first && counter.second && *counter.first != 0)
        out_ << fmt::format(" {:>+8.1f} %",
                            100 * (static_cast<double>(*counter.second) / static_cast<double>(*counter.first) - 1));
      out_ << '\n';
    }
  }

  void writeFunctions() {
    out_ << fmt::format("\n{:>9} {:>9}  function, in percent of {}\n", "A", "B", shown(comparison_.counter));
    const auto percent = [&](const ProfiledFunction *function) {
      return function ? fmt::format("{:>9.2f}", shareOf(function, comparison_.counter)) : fmt::format("{:>9}", "-");
    };
    for (size_t i = 0; i < count(); ++i) {
      const ComparedFunction &function = comparison_.functions[i];
      out_ << fmt::format("{} {}  {}\n", percent(function.first), percent(function.second), shown(function.name));
    }
    if (const size_t left = comparison_.functions.size() - count())
      out_ << fmt::format("and {} more; --top N shows them\n", left);
  }

  // Writes all lines if only one function is shown, otherwise only lines with a large share.
  void writeLines(const ComparedFunction &function) {
    bool begun = false, left_out = false;
    for (const AlignedLines &pair : function.lines) {
      if (!comparison_.one_function && !isWarm(function.first, pair.first) && !isWarm(function.second, pair.second)) {
        left_out = begun;
        continue;
      }
      if (!begun)
        out_ << fmt::format("\n{}\n", shown(function.name));
      begun = true;
      if (std::exchange(left_out, false))
        out_ << fmt::format("{:>{}}\n", "…", kShareColumns);
      const auto text = [&](const ProfiledLine *line) {
        return cell(!line ? "" : line->text.empty() ? fmt::format("{:#x}", line->address) : line->text, half_);
      };
      std::string row =
          fmt::format("{} {} | {} {}", share(function.first, pair.first, comparison_.counter), text(pair.first),
                      share(function.second, pair.second, comparison_.counter), text(pair.second));
      row.erase(row.find_last_not_of(' ') + 1);
      out_ << row << '\n';
    }
  }

  std::ostream &out_;
  const ProfileComparison &comparison_;
  size_t half_;
};

} // namespace

void writeComparisonText(std::ostream &out, const ProfileComparison &comparison, size_t columns) {
  Writer(out, comparison, columns).write();
}

} // namespace msleaks::analysis::profiles
