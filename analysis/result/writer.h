// Writes a value as JSON by the table of its fields (fields.h).
#pragma once

#include "analysis/places/site_text.h"
#include "analysis/result/fields.h"
#include "analysis/result/json_tree.h"
#include "analysis/result/report.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <ostream>
#include <type_traits>
#include <variant>
#include <vector>

namespace msleaks::analysis::inline result {

// If `indent` < 0, writes one line. Bytes that are not UTF-8 become U+FFFD, because names may come from damaged files.
inline void write(std::ostream &to, const Json &json, int indent) {
  nlohmann::detail::serializer<Json> serializer(nlohmann::detail::output_adapter<char>(to), ' ',
                                                Json::error_handler_t::replace);
  serializer.dump(json, indent >= 0, false, static_cast<unsigned>(std::max(indent, 0)));
}

template <class To, class T> class FieldWriter;

// Writes values to a JsonText or a JsonTree, depending on their type. `report` is the report that contains the value.
template <class To, class T> void emit(To &to, const T &value, const Report &report) {
  if constexpr (HasFieldTable<T>) {
    to.beginObject();
    Fields<T>::each(FieldWriter(to, value, report));
    to.endObject();
  } else if constexpr (std::is_enum_v<T>) {
    to.text(nameOf(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    to.boolean(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    to.number(static_cast<double>(value));
  } else if constexpr (std::is_unsigned_v<T>) {
    to.number(uint64_t{value});
  } else if constexpr (std::is_signed_v<T>) {
    to.number(int64_t{value});
  } else {
    to.text(value);
  }
}
template <class To> void emit(To &to, std::monostate, const Report &) { to.null(); }
template <class To, class T> void emit(To &to, const std::optional<T> &value, const Report &report) {
  value ? emit(to, *value, report) : to.null();
}
template <class To, class T> void emit(To &to, const std::shared_ptr<const T> &value, const Report &report) {
  value ? emit(to, *value, report) : to.null();
}
template <class To, class... Ts> void emit(To &to, const std::variant<Ts...> &value, const Report &report) {
  std::visit([&](const auto &known) { emit(to, known, report); }, value);
}
template <class To, class T> void emit(To &to, const std::vector<T> &list, const Report &report) {
  to.beginList();
  for (const T &item : list)
    emit(to, item, report);
  to.endList();
}
template <class To> void emit(To &to, const Evidence &evidence, const Report &report) {
  to.beginObject();
  for (const auto &[name, value] : evidence) {
    to.key(name);
    emit(to, value, report);
  }
  to.endObject();
}

// Writes a frame for the call, and a frame for each function where it was inlined, innermost first.
template <class To> void emitFrames(To &to, const SiteText &call, const Report &report) {
  to.beginObject();
  CallFields::each(FieldWriter(to, call, report));
  if (call.origin == SiteOrigin::Python) {
    to.key("language"); // other languages are not known
    to.text("python");
  }
  to.endObject();
  for (const FrameText &inlined : call.inlined_at) {
    to.beginObject();
    Fields<FrameText>::each(FieldWriter(to, inlined, report));
    ImageFields::each(FieldWriter(to, call, report));
    to.key("inlined");
    to.boolean(true);
    to.endObject();
  }
}

template <class T> Json jsonOf(const T &value, const Report &report) {
  JsonTree tree;
  emit(tree, value, report);
  return tree.take();
}

template <class T> bool isEmpty(const T &value) {
  if constexpr (std::is_enum_v<T>)
    return *nameOf(value) == '\0';
  else if constexpr (requires { value.empty(); })
    return value.empty();
  else
    return value == T{};
}

// Writes the fields that a table visits.
template <class To, class T> class FieldWriter {
public:
  FieldWriter(To &to, const T &value, const Report &report) : to_(to), value_(value), report_(report) {}

  template <class Member, class Form = Plain>
  void operator()(const char *key, Member member, Form form = {}, Fold = Fold::First) {
    put(key, value_.*member, form);
  }
  template <class Member> void part(Member member) {
    using Part = std::remove_cvref_t<decltype(value_.*member)>;
    Fields<Part>::each(FieldWriter<To, Part>(to_, value_.*member, report_));
  }
  template <class Each> void object(const char *key, Each each) {
    to_.key(key);
    to_.beginObject();
    each(*this);
    to_.endObject();
  }
  template <class Member, class IsIt> void onlyIf(const char *key, Member member, IsIt isIt) {
    if (isIt(value_))
      put(key, value_.*member, Plain{});
  }
  template <class Function> void derived(const char *key, Function function) {
    put(key, function(value_, report_), Plain{});
  }
  template <class Function> void afterRead(Function) {}

private:
  template <class V> void put(const char *key, const V &value, Plain) {
    to_.key(key);
    emit(to_, value, report_);
  }
  template <class V> void put(const char *key, const V &value, OrNull) {
    to_.key(key);
    isEmpty(value) ? to_.null() : emit(to_, value, report_);
  }
  template <class V> void put(const char *key, const V &value, UnlessEmpty) {
    if (!isEmpty(value))
      put(key, value, Plain{});
  }
  void put(const char *key, uint64_t number, Hex) { putText(key, number, "{:016x}"); }
  void put(const char *key, uint64_t number, HexUnlessEmpty) {
    if (number != 0)
      put(key, number, Hex{});
  }
  void put(const char *key, uint64_t digest, Digest) { putText(key, digest, "xxh3_64:{:x}"); }
  void put(const char *key, uint64_t number, WatchFile) { putText(key, number, "watch/{}.safetensors"); }
  void put(const char *key, const std::vector<std::shared_ptr<const SiteText>> &calls, Frames) {
    to_.key(key);
    to_.beginList();
    for (const auto &call : calls)
      emitFrames(to_, *call, report_);
    to_.endList();
  }
  template <class V, class ItemTable> void put(const char *key, const std::vector<V> &list, ItemsOf<ItemTable>) {
    to_.key(key);
    to_.beginList();
    for (const V &item : list) {
      to_.beginObject();
      ItemTable::each(FieldWriter<To, V>(to_, item, report_));
      to_.endObject();
    }
    to_.endList();
  }
  // Writes null for 0.
  void putText(const char *key, uint64_t number, fmt::format_string<uint64_t &> format) {
    to_.key(key);
    number == 0 ? to_.null() : to_.text(fmt::format(format, number));
  }

  To &to_;
  const T &value_;
  const Report &report_;
};

// JSON of sites, for the report and for the list of sites.
Json jsonOf(const SiteText &);
// Parts of a report's JSON that answers of other verbs contain, too (docs/report.md).
Json findingsJson(const std::vector<Finding> &);
Json remainsJson(const RemainsReport &);
Json placesJson(const std::vector<SiteLine> &);
Json processesJson(const Report &);
Json collectorsJson(const std::vector<KernelCollector> &);
Json frameJson(const FrameText &);
Json framesJson(const std::vector<SiteText> &calls);

} // namespace msleaks::analysis::inline result
