// Writes a value as JSON by the table of its fields (fields.h).
#pragma once

#include "analysis/places/site_text.h"
#include "analysis/result/fields.h"
#include "analysis/result/report.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace msleaks::analysis::inline result {

// JSON of sites, for the report and for the list of sites.
using Json = nlohmann::ordered_json; // keys keep the order of the documentation

Json jsonOf(const SiteText &);

// Appends a frame for the call, and a frame for each function where it was inlined, innermost first.
void appendFrames(const SiteText &call, Json &frames);

// If `indent` < 0, writes one line. Bytes that are not UTF-8 become U+FFFD, because names may come from damaged files.
inline void write(std::ostream &to, const Json &json, int indent) {
  // Json::dump() would return all text at once. A report may have a hundred megabytes.
  nlohmann::detail::serializer<Json> serializer(nlohmann::detail::output_adapter<char>(to), ' ',
                                                Json::error_handler_t::replace);
  serializer.dump(json, indent >= 0, false, static_cast<unsigned>(std::max(indent, 0)));
}

template <class Table, class T> class FieldWriter;

template <class Table, class T> Json objectOf(const T &value, const Report &report) {
  Json object = Json::object();
  Table::each(FieldWriter<Table, T>(object, value, report));
  return object;
}

// Converts values, depending on their type. `report` is the report that contains the value.
template <class T> Json jsonOf(const T &value, const Report &report);
template <class T> Json jsonOf(const std::optional<T> &value, const Report &report) {
  return value ? jsonOf(*value, report) : Json();
}
template <class T> Json jsonOf(const std::shared_ptr<const T> &value, const Report &report) {
  return value ? jsonOf(*value, report) : Json();
}
inline Json jsonOf(std::monostate, const Report &) { return nullptr; }
template <class... Ts> Json jsonOf(const std::variant<Ts...> &value, const Report &report) {
  return std::visit([&](const auto &known) { return jsonOf(known, report); }, value);
}
template <class T> Json jsonOf(const std::vector<T> &list, const Report &report) {
  Json array = Json::array();
  for (const T &item : list)
    array.push_back(jsonOf(item, report));
  return array;
}
inline Json jsonOf(const Evidence &evidence, const Report &report) {
  Json json = Json::object();
  for (const auto &[name, value] : evidence)
    json[name] = jsonOf(value, report);
  return json;
}
template <class T> Json jsonOf(const T &value, const Report &report) {
  if constexpr (HasFieldTable<T>)
    return objectOf<Fields<T>>(value, report);
  else if constexpr (std::is_enum_v<T>)
    return nameOf(value);
  else
    return value;
}

template <class T> bool isEmpty(const T &value) {
  if constexpr (std::is_enum_v<T>)
    return *nameOf(value) == '\0';
  else if constexpr (requires { value.empty(); })
    return value.empty();
  else
    return value == T{};
}

template <class Table, class T> class FieldWriter {
public:
  FieldWriter(Json &object, const T &value, const Report &report) : object_(object), value_(value), report_(report) {}

  template <class Member, class Form = Plain>
  void operator()(const char *key, Member member, Form form = {}, Fold = Fold::First) {
    put(key, value_.*member, form);
  }
  template <class Member> void part(Member member) {
    using Part = std::remove_cvref_t<decltype(value_.*member)>;
    Fields<Part>::each(FieldWriter<Fields<Part>, Part>(object_, value_.*member, report_));
  }
  template <class Each> void object(const char *key, Each each) {
    Json inner = Json::object();
    each(FieldWriter(inner, value_, report_));
    object_[key] = std::move(inner);
  }
  template <class Member, class IsIt> void onlyIf(const char *key, Member member, IsIt isIt) {
    if (isIt(value_))
      put(key, value_.*member, Plain{});
  }
  template <class Function> void derived(const char *key, Function function) {
    object_[key] = jsonOf(function(value_, report_), report_);
  }
  template <class Function> void afterRead(Function) {}

private:
  template <class V> void put(const char *key, const V &value, Plain) { object_[key] = jsonOf(value, report_); }
  template <class V> void put(const char *key, const V &value, OrNull) {
    object_[key] = isEmpty(value) ? Json() : jsonOf(value, report_);
  }
  template <class V> void put(const char *key, const V &value, UnlessEmpty) {
    if (!isEmpty(value))
      object_[key] = jsonOf(value, report_);
  }
  void put(const char *key, uint64_t number, Hex) {
    object_[key] = number == 0 ? Json() : Json(fmt::format("{:016x}", number));
  }
  void put(const char *key, uint64_t number, HexUnlessEmpty) {
    if (number != 0)
      put(key, number, Hex{});
  }
  void put(const char *key, uint64_t digest, Digest) {
    object_[key] = digest == 0 ? Json() : Json(fmt::format("xxh3_64:{:x}", digest));
  }
  void put(const char *key, uint64_t number, WatchFile) {
    object_[key] = number == 0 ? Json() : Json(fmt::format("watch/{}.safetensors", number));
  }
  void put(const char *key, const std::vector<std::shared_ptr<const SiteText>> &calls, Frames) {
    Json frames = Json::array();
    for (const auto &call : calls)
      appendFrames(*call, frames);
    object_[key] = std::move(frames);
  }
  template <class V, class ItemTable> void put(const char *key, const std::vector<V> &list, ItemsOf<ItemTable>) {
    Json array = Json::array();
    for (const V &item : list)
      array.push_back(objectOf<ItemTable>(item, report_));
    object_[key] = std::move(array);
  }

  Json &object_;
  const T &value_;
  const Report &report_;
};

// Parts of a report's JSON that answers of other verbs contain, too (docs/report.md).
Json findingsJson(const std::vector<Finding> &);
Json remainsJson(const RemainsReport &);
Json placesJson(const std::vector<SiteLine> &);
Json processesJson(const Report &);
Json frameJson(const FrameText &);

} // namespace msleaks::analysis::inline result
