#include "analysis/profiles/profile_json.h"

#include <nlohmann/json.hpp>
#include <ostream>

namespace msleaks::analysis::profiles {
namespace {

using Json = nlohmann::json;

// As Python's json.dumps writes it: no letters beyond ASCII. Bytes that are no text become the replacement character.
void write(std::ostream &out, const Json &json) {
  out << json.dump(-1, ' ', true, Json::error_handler_t::replace) << '\n';
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

void writeCountersJson(std::ostream &out, const Profile &profile) { write(out, Json(profile.counters)); }

void writeFunctionsJson(std::ostream &out, const Profile &profile) {
  Json functions = Json::object();
  for (const auto &[name, function] : profile.functions)
    functions[name] = {{"counters", function.counters}, {"length", function.lines.size()}};
  write(out, functions);
}

void writeCodeJson(std::ostream &out, const ProfiledFunction &function) { write(out, codeOf(function)); }

void writeCodeJson(std::ostream &out, const Profile &profile) {
  Json functions = Json::object();
  for (const auto &[name, function] : profile.functions)
    functions[name] = codeOf(function);
  write(out, functions);
}

} // namespace msleaks::analysis::profiles
