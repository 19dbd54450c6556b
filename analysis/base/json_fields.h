// Converts a struct to a JSON object and back. A function beside the struct lists its fields once:
//
//   template <class Visitor, IsOrConst<Thing> T> static void visitFields(Visitor &&visit, T &thing) {
//     visit("size_bytes", thing.size_bytes); …
//   }
//
// A field is a number, a bool, a text, a struct that lists its fields, or a list of texts or of such structs.
#pragma once

#include <concepts>
#include <cstdint>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline base {

template <class T, class Wanted>
concept IsOrConst = std::is_same_v<std::remove_const_t<T>, Wanted>;

// The concept below calls visitFields with this visitor, to ask whether a type lists its fields.
struct AnyVisitor {
  template <class T> void operator()(const char *, T &) const {}
};
template <class T>
concept HasFields = requires(T &value) { visitFields(AnyVisitor{}, value); };

using OrderedJson = nlohmann::ordered_json; // keys in the order of the fields

template <class T> OrderedJson toJson(const std::optional<T> &value);
template <class T> OrderedJson toJson(const std::vector<T> &list);
template <class T> OrderedJson toJson(const T &value) {
  if constexpr (HasFields<const T>) {
    OrderedJson object = OrderedJson::object();
    visitFields([&](const char *key, const auto &field) { object[key] = toJson(field); }, value);
    return object;
  } else {
    return value;
  }
}
template <class T> OrderedJson toJson(const std::optional<T> &value) { return value ? toJson(*value) : OrderedJson(); }
template <class T> OrderedJson toJson(const std::vector<T> &list) {
  OrderedJson array = OrderedJson::array();
  for (const T &item : list)
    array.push_back(toJson(item));
  return array;
}

// Reads the fields of an object. A missing field keeps its default. `wrong` gets the first field of a wrong type.
class FieldReader {
public:
  FieldReader(const OrderedJson &object, std::string prefix, std::string &wrong)
      : object_(object), prefix_(std::move(prefix)), wrong_(wrong) {}

  template <class T> void operator()(const char *key, T &value) {
    const auto found = object_.find(key);
    if (found != object_.end() && !take(*found, prefix_ + key, value) && wrong_.empty())
      wrong_ = prefix_ + key;
  }

private:
  static bool take(const OrderedJson &json, const std::string &, std::string &value) {
    if (json.is_string())
      value = json.get<std::string>();
    return json.is_string();
  }
  static bool take(const OrderedJson &json, const std::string &, bool &value) {
    if (json.is_boolean())
      value = json.get<bool>();
    return json.is_boolean();
  }
  template <std::integral T> static bool take(const OrderedJson &json, const std::string &, T &value) {
    if (json.is_number_unsigned() && std::in_range<T>(json.get<uint64_t>()))
      value = static_cast<T>(json.get<uint64_t>());
    else if (json.is_number_integer() && !json.is_number_unsigned() && std::in_range<T>(json.get<int64_t>()))
      value = static_cast<T>(json.get<int64_t>());
    else
      return false;
    return true;
  }
  template <HasFields T> bool take(const OrderedJson &json, const std::string &where, T &value) {
    if (json.is_object())
      visitFields(FieldReader(json, where + ".", wrong_), value);
    return json.is_object();
  }
  template <class T> bool take(const OrderedJson &json, const std::string &where, std::optional<T> &value) {
    return json.is_null() || take(json, where, value.emplace());
  }
  template <class T> bool take(const OrderedJson &json, const std::string &where, std::vector<T> &list) {
    if (!json.is_array())
      return false;
    for (const OrderedJson &item : json) {
      const std::string name = fmt::format("{}[{}]", where, list.size());
      if (!take(item, name, list.emplace_back()))
        return false;
    }
    return true;
  }

  const OrderedJson &object_;
  std::string prefix_;
  std::string &wrong_;
};

} // namespace msleaks::analysis::inline base
