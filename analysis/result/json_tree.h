// Makes a tree of JSON from one value after the other, as JsonText writes them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline result {

using Json = nlohmann::ordered_json; // keys keep the order of the documentation

class JsonTree {
public:
  void null() { add(nullptr); }
  void boolean(bool value) { add(value); }
  void number(auto value) { add(value); }
  void text(std::string_view value) { add(value); }

  void beginObject() { open_.push_back(&add(Json::object())); }
  void key(std::string_view name) { key_ = name; }
  void endObject() { open_.pop_back(); }
  void beginList() { open_.push_back(&add(Json::array())); }
  void endList() { open_.pop_back(); }

  Json take() { return std::move(root_); }

private:
  Json &add(Json value) {
    if (open_.empty())
      return root_ = std::move(value);
    Json &outer = *open_.back();
    if (outer.is_object())
      return outer[key_] = std::move(value);
    outer.push_back(std::move(value));
    return outer.back();
  }

  Json root_;
  std::vector<Json *> open_; // objects and lists; an item is only added to the last one, so the others do not move
  std::string key_;
};

} // namespace msleaks::analysis::inline result
