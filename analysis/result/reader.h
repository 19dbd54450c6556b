// Reads a value from JSON by the table of its fields (fields.h). A missing field keeps its default.
//
// The functions take() return false if the JSON does not fit the value's type. Then ReadPath contains the first such
// field, for example "findings[3].bytes".
#pragma once

#include "analysis/result/fields.h"

#include <charconv>
#include <concepts>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace msleaks::analysis::inline result {

using Element = simdjson::dom::element;

// The reader's position, and the first field that it could not read. Keys must stay valid while the reader is in them.
class ReadPath {
public:
  void enter(std::string_view key) { steps_.emplace_back(key); }
  void enterItem(size_t index) { steps_.emplace_back(index); }
  void leave() { steps_.pop_back(); }
  void wrong() {
    if (!wrong_.empty())
      return;
    for (const auto &step : steps_)
      if (const auto *key = std::get_if<std::string_view>(&step))
        wrong_.append(wrong_.empty() ? "" : ".").append(*key);
      else
        wrong_ += fmt::format("[{}]", std::get<size_t>(step));
  }
  const std::string &firstWrong() const { return wrong_; }

private:
  std::vector<std::variant<std::string_view, size_t>> steps_;
  std::string wrong_;
};

// Finds fields of an object. A file has its fields in the order of the table, so a search begins behind the last field
// that was found.
class FieldCursor {
public:
  explicit FieldCursor(const simdjson::dom::object &object) : object_(object), next_(object.begin()) {}
  std::optional<Element> find(std::string_view key) {
    const auto begin = next_;
    for (auto at = begin; at != object_.end(); ++at)
      if (at.key_equals(key))
        return take(at);
    for (auto at = object_.begin(); at != begin; ++at)
      if (at.key_equals(key))
        return take(at);
    return {};
  }

private:
  Element take(simdjson::dom::object::iterator at) {
    const Element value = at.value();
    next_ = ++at;
    return value;
  }
  simdjson::dom::object object_;
  simdjson::dom::object::iterator next_;
};

template <class Table, class T> class TableReader;

template <class Table, class T> bool takeObject(const Element &json, T &value, ReadPath &path) {
  simdjson::dom::object object;
  if (json.get(object) != simdjson::SUCCESS)
    return false;
  FieldCursor fields(object);
  Table::each(TableReader<Table, T>(fields, value, path));
  return true;
}

inline bool take(const Element &json, std::string &value, ReadPath &) {
  std::string_view text;
  const bool fits = json.get(text) == simdjson::SUCCESS;
  value = text;
  return fits;
}
inline bool take(const Element &json, bool &value, ReadPath &) { return json.get(value) == simdjson::SUCCESS; }
inline bool take(const Element &json, double &value, ReadPath &) { return json.get(value) == simdjson::SUCCESS; }
template <std::integral T> bool take(const Element &json, T &value, ReadPath &) {
  uint64_t positive = 0;
  int64_t negative = 0;
  if (json.get(positive) == simdjson::SUCCESS && std::in_range<T>(positive))
    value = static_cast<T>(positive);
  else if (json.get(negative) == simdjson::SUCCESS && std::in_range<T>(negative))
    value = static_cast<T>(negative);
  else
    return false;
  return true;
}
template <class T>
  requires std::is_enum_v<T>
bool take(const Element &json, T &value, ReadPath &) {
  std::string_view text;
  if (json.get(text) != simdjson::SUCCESS || text.empty())
    return false;
  for (int number = 0; number <= 0xff; ++number) {
    const char *name = nameOf(static_cast<T>(number)); // null or empty if the number is no value of T
    if (name == nullptr || text != name)
      continue;
    value = static_cast<T>(number);
    return true;
  }
  return false;
}
template <HasFieldTable T> bool take(const Element &json, T &value, ReadPath &path) {
  return takeObject<Fields<T>>(json, value, path);
}
template <class T> bool take(const Element &json, std::vector<T> &list, ReadPath &path);
template <class T> bool take(const Element &json, std::optional<T> &value, ReadPath &path) {
  return json.is_null() || take(json, value.emplace(), path);
}

// Calls take(item, value, path) for each item of an array.
template <class T, class Take>
bool takeItems(const Element &json, std::vector<T> &list, ReadPath &path, Take takeItem) {
  simdjson::dom::array array;
  if (json.get(array) != simdjson::SUCCESS)
    return false;
  list.reserve(array.size());
  for (const Element item : array) {
    path.enterItem(list.size());
    if (!takeItem(item, list.emplace_back()))
      path.wrong();
    path.leave();
  }
  return true;
}
template <class T> bool take(const Element &json, std::vector<T> &list, ReadPath &path) {
  return takeItems(json, list, path, [&](const Element &item, T &value) { return take(item, value, path); });
}

// A number, a text, a list of texts, or a line of code.
inline bool take(const Element &json, Evidence::value_type::second_type &value, ReadPath &path) {
  switch (json.type()) {
  case simdjson::dom::element_type::DOUBLE:
    return take(json, value.emplace<double>(), path);
  case simdjson::dom::element_type::STRING:
    return take(json, value.emplace<std::string>(), path);
  case simdjson::dom::element_type::ARRAY:
    return take(json, value.emplace<std::vector<std::string>>(), path);
  case simdjson::dom::element_type::OBJECT:
    return take(json, value.emplace<FrameText>(), path);
  default:
    return take(json, value.emplace<uint64_t>(), path);
  }
}
inline bool take(const Element &json, Evidence &evidence, ReadPath &path) {
  simdjson::dom::object object;
  if (json.get(object) != simdjson::SUCCESS)
    return false;
  for (const auto &[key, value] : object) {
    path.enter(key);
    evidence.emplace_back(std::string(key), uint64_t{0});
    if (!take(value, evidence.back().second, path))
      path.wrong();
    path.leave();
  }
  return true;
}
inline bool take(const Element &json, Cell &cell, ReadPath &path) {
  switch (json.type()) {
  case simdjson::dom::element_type::NULL_VALUE:
    cell = {};
    return true;
  case simdjson::dom::element_type::DOUBLE:
    return take(json, cell.emplace<double>(), path);
  case simdjson::dom::element_type::STRING:
    return take(json, cell.emplace<std::string>(), path);
  case simdjson::dom::element_type::OBJECT: {
    auto site = std::make_shared<SiteText>();
    const bool fits = take(json, *site, path);
    cell = std::shared_ptr<const SiteText>(std::move(site));
    return fits;
  }
  default:
    return take(json, cell.emplace<uint64_t>(), path);
  }
}

// The number in a text between `before` and `behind`.
inline bool takeNumber(const Element &json, std::string_view before, std::string_view behind, int base,
                       uint64_t &number) {
  std::string_view text;
  if (json.get(text) != simdjson::SUCCESS || !text.starts_with(before) || !text.ends_with(behind) ||
      text.size() <= before.size() + behind.size())
    return false;
  text.remove_prefix(before.size());
  text.remove_suffix(behind.size());
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return failed == std::errc() && end == text.data() + text.size();
}

// Frames with `inlined` belong to the call before them.
inline bool takeFrames(const Element &json, std::vector<std::shared_ptr<const SiteText>> &calls, ReadPath &path) {
  simdjson::dom::array frames;
  if (json.get(frames) != simdjson::SUCCESS)
    return false;
  std::shared_ptr<SiteText> call;
  for (const Element frame : frames) {
    bool is_inlined = false;
    if (frame["inlined"].get(is_inlined) == simdjson::SUCCESS && is_inlined && call) {
      if (!take(frame, call->inlined_at.emplace_back(), path))
        return false;
      continue;
    }
    call = std::make_shared<SiteText>();
    if (!takeObject<CallFields>(frame, *call, path))
      return false;
    calls.push_back(call);
  }
  return true;
}

template <class Table, class T> class TableReader {
public:
  TableReader(FieldCursor &fields, T &value, ReadPath &path) : fields_(fields), value_(value), path_(path) {}

  template <class Member, class Form = Plain>
  void operator()(const char *key, Member member, Form form = {}, Fold = Fold::First) {
    const std::optional<Element> json = fields_.find(key);
    if (!json)
      return;
    path_.enter(key);
    if (!get(*json, value_.*member, form))
      path_.wrong();
    path_.leave();
  }
  template <class Member> void part(Member member) {
    using Part = std::remove_cvref_t<decltype(value_.*member)>;
    Fields<Part>::each(TableReader<Fields<Part>, Part>(fields_, value_.*member, path_));
  }
  template <class Each> void object(const char *key, Each each) {
    const std::optional<Element> json = fields_.find(key);
    if (!json)
      return;
    path_.enter(key);
    if (simdjson::dom::object inner; json->get(inner) == simdjson::SUCCESS) {
      FieldCursor fields(inner);
      each(TableReader(fields, value_, path_));
    } else {
      path_.wrong();
    }
    path_.leave();
  }
  template <class Member, class IsIt> void onlyIf(const char *key, Member member, IsIt) { (*this)(key, member); }
  template <class Function> void derived(const char *, Function) {}
  template <class Function> void afterRead(Function function) { function(value_); }

private:
  template <class V> bool get(const Element &json, V &value, Plain) { return take(json, value, path_); }
  template <class V> bool get(const Element &json, V &value, OrNull) {
    return json.is_null() || take(json, value, path_);
  }
  template <class V> bool get(const Element &json, V &value, UnlessEmpty) { return take(json, value, path_); }
  bool get(const Element &json, uint64_t &number, Hex) {
    return json.is_null() || takeNumber(json, "", "", 16, number);
  }
  bool get(const Element &json, uint64_t &number, HexUnlessEmpty) { return takeNumber(json, "", "", 16, number); }
  bool get(const Element &json, uint64_t &digest, Digest) {
    return json.is_null() || takeNumber(json, "xxh3_64:", "", 16, digest);
  }
  bool get(const Element &json, uint64_t &number, WatchFile) {
    return json.is_null() || takeNumber(json, "watch/", ".safetensors", 10, number);
  }
  bool get(const Element &json, std::vector<std::shared_ptr<const SiteText>> &calls, Frames) {
    return takeFrames(json, calls, path_);
  }
  template <class V, class ItemTable> bool get(const Element &json, std::vector<V> &list, ItemsOf<ItemTable>) {
    return takeItems(json, list, path_,
                     [&](const Element &item, V &value) { return takeObject<ItemTable>(item, value, path_); });
  }

  FieldCursor &fields_;
  T &value_;
  ReadPath &path_;
};

} // namespace msleaks::analysis::inline result
