#include "analysis/profiles/profile_json.h"

#include <nlohmann/json.hpp>
#include <ostream>

namespace msleaks::analysis::profiles {
namespace {

using Json = nlohmann::json;

// As Python's json.dumps writes it: no letters beyond ASCII. Bytes that are no text become the replacement character.
std::string textOf(const Json &json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

// An object with an entry for each function, made and written one at a time: there may be many lines.
template <class F> void writeByFunction(std::ostream &out, const Profile &profile, F &&valueOf) {
  const char *separator = "{";
  for (const auto &[name, function] : profile.functions) {
    out << separator << textOf(name) << ':' << textOf(valueOf(function));
    separator = ",";
  }
  out << (*separator == '{' ? "{" : "") << "}\n";
}

Json codeOf(const ProfiledFunction &function) {
  Json lines = Json::array();
  for (const ProfiledLine &line : function.lines) {
    Json counters = Json::object();
    size_t column = 0;
    for (const auto &[name, percent] : function.counters)
      counters[name] = line.shares[column++];
    lines.push_back(Json::array({std::move(counters), line.address, line.text}));
  }
  return lines;
}

} // namespace

void writeCountersJson(std::ostream &out, const Profile &profile) { out << textOf(profile.counters) << '\n'; }

void writeFunctionsJson(std::ostream &out, const Profile &profile) {
  writeByFunction(out, profile, [](const ProfiledFunction &function) {
    return Json{{"counters", function.counters}, {"length", function.lines.size()}};
  });
}

void writeCodeJson(std::ostream &out, const ProfiledFunction &function) { out << textOf(codeOf(function)) << '\n'; }

void writeCodeJson(std::ostream &out, const Profile &profile) { writeByFunction(out, profile, codeOf); }

} // namespace msleaks::analysis::profiles
