#include "analysis/counts/profile.h"

#include "analysis/counts/escaped.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace msleaks::analysis::profiles {
namespace {

bool isShare(double percent) { return std::isfinite(percent) && percent >= 0; }

Result<void> checkFunction(const std::string &name, const ProfiledFunction &function) {
  for (const auto &[counter, percent] : function.counters)
    if (!isShare(percent))
      return fail(
          fmt::format("counter '{}' of function '{}' is {}; expected percent", shown(counter), shown(name), percent));
  uint64_t previous = 0;
  for (const ProfiledLine &line : function.lines) {
    if (line.shares.size() != function.counters.size())
      return fail(fmt::format("function '{}' has {} counters, its line at {:#x} has {}", shown(name),
                              function.counters.size(), line.address, line.shares.size()));
    if (!std::all_of(line.shares.begin(), line.shares.end(), isShare))
      return fail(fmt::format("a counter of function '{}' at {:#x} is not a percentage", shown(name), line.address));
    if (line.address < previous)
      return fail(
          fmt::format("addresses of function '{}' fall from {:#x} to {:#x}", shown(name), previous, line.address));
    previous = line.address;
  }
  return {};
}

} // namespace

Result<void> checkProfile(const Profile &profile) {
  for (const auto &[name, function] : profile.functions)
    MSL_TRY(checkFunction(name, function));
  return {};
}

namespace {

using Json = nlohmann::json;

// Writes JSON as Python's json.dumps does, with ASCII letters only. Invalid UTF-8 becomes the replacement character.
std::string textOf(const Json &json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

// Writes an object with an entry for each function.
template <class F> void writeByFunction(std::ostream &out, const Profile &profile, F &&textFor) {
  const char *separator = "{";
  for (const auto &[name, function] : profile.functions) {
    out << separator << textOf(name) << ':' << textFor(function);
    separator = ",";
  }
  out << (*separator == '{' ? "{" : "") << "}\n";
}

// Writes the text line by line, without one JSON object for all lines, because a profile has tens of thousands of
// lines.
std::string codeOf(const ProfiledFunction &function) {
  std::vector<std::string> names;
  for (const auto &[name, percent] : function.counters)
    names.push_back((names.empty() ? "" : ",") + textOf(name) + ':');
  std::string text = "[";
  for (const ProfiledLine &line : function.lines) {
    text += text.size() > 1 ? ",[{" : "[{";
    for (size_t i = 0; i < names.size(); ++i) {
      text += names[i];
      text += line.shares[i] == 0 ? "0.0" : textOf(line.shares[i]);
    }
    fmt::format_to(std::back_inserter(text), "}},{},{}]", line.address, textOf(line.text));
  }
  return text + ']';
}

} // namespace

void writeDisassemblyFormatJson(std::ostream &out, const Profile &profile) {
  out << textOf(profile.disassembly_format) << '\n';
}

void writeCountersJson(std::ostream &out, const Profile &profile) { out << textOf(profile.counters) << '\n'; }

void writeFunctionsJson(std::ostream &out, const Profile &profile) {
  writeByFunction(out, profile, [](const ProfiledFunction &function) {
    return textOf({{"counters", function.counters}, {"length", function.lines.size()}});
  });
}

void writeCodeJson(std::ostream &out, const ProfiledFunction &function) { out << codeOf(function) << '\n'; }

void writeCodeJson(std::ostream &out, const Profile &profile) { writeByFunction(out, profile, codeOf); }

namespace {

constexpr uint64_t kMostBytes = 1 << 30;

} // namespace

Result<std::vector<uint8_t>> wholeFile(const InputFile &file) {
  if (file.size() > kMostBytes)
    return fail(fmt::format("is larger than {} GiB, which no profile of this format is", kMostBytes >> 30));
  std::vector<uint8_t> bytes(static_cast<size_t>(file.size()));
  MSL_TRY(file.readAll(0, bytes));
  return bytes;
}

} // namespace msleaks::analysis::profiles
