#include "analysis/profiles/profile_json.h"

#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace msleaks::analysis::profiles {
namespace {

using Json = nlohmann::json;

// As Python's json.dumps writes it: no letters beyond ASCII. Bytes that are no text become the replacement character.
std::string textOf(const Json &json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

// An object with an entry for each function.
template <class F> void writeByFunction(std::ostream &out, const Profile &profile, F &&textFor) {
  const char *separator = "{";
  for (const auto &[name, function] : profile.functions) {
    out << separator << textOf(name) << ':' << textFor(function);
    separator = ",";
  }
  out << (*separator == '{' ? "{" : "") << "}\n";
}

// Line by line, without an object of the whole: a profile has ten thousands of lines.
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

} // namespace msleaks::analysis::profiles
