// Tests that JSON that is written piece by piece is the text that a whole tree of it would have.
#include "analysis/result/json_text.h"
#include "analysis/result/json_tree.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <sstream>
#include <string>

namespace msleaks::analysis {
namespace {

void tell(auto &to, const Json &json) {
  if (json.is_object()) {
    to.beginObject();
    for (const auto &[key, value] : json.items()) {
      to.key(key);
      tell(to, value);
    }
    to.endObject();
  } else if (json.is_array()) {
    to.beginList();
    for (const Json &item : json)
      tell(to, item);
    to.endList();
  } else if (json.is_string()) {
    to.text(json.get_ref<const std::string &>());
  } else if (json.is_boolean()) {
    to.boolean(json.get<bool>());
  } else if (json.is_number_float()) {
    to.number(json.get<double>());
  } else if (json.is_number_unsigned()) {
    to.number(json.get<uint64_t>());
  } else if (json.is_number_integer()) {
    to.number(json.get<int64_t>());
  } else {
    to.null();
  }
}

std::string textOf(const Json &json) {
  std::ostringstream out;
  JsonText text(out);
  tell(text, json);
  text.flush();
  return out.str();
}

std::string dumped(const Json &json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

const Json kNested = {{"a", {1, -2, 2.5, 1e300, true, nullptr}},
                      {"", Json::object()},
                      {"list", Json::array({Json::array(), Json::object({{"b", Json::array({Json::object()})}}), 3})},
                      {"last", std::numeric_limits<uint64_t>::max()},
                      {"least", std::numeric_limits<int64_t>::min()},
                      {"endless", std::numeric_limits<double>::infinity()}};

TEST(JsonText, IsTheTextOfTheTree) { EXPECT_EQ(textOf(kNested), dumped(kNested)); }

TEST(JsonText, OfOneValue) {
  for (const Json &json : {Json(), Json(7), Json("text"), Json::array(), Json::object()})
    EXPECT_EQ(textOf(json), dumped(json));
}

TEST(JsonText, EscapesAndReplaces) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte)
    bytes += static_cast<char>(byte);
  for (const std::string &text :
       {bytes, std::string("\"\\\n\t"), std::string("Größe \xe4\xb8\xad"), std::string("\x7f")}) {
    const Json json = {{text, text}};
    EXPECT_EQ(textOf(json), dumped(json));
  }
}

TEST(JsonText, LosesNothingOfALongText) {
  Json json = Json::array();
  for (int i = 0; i < 100'000; ++i)
    json.push_back({{"number", i}});
  EXPECT_EQ(textOf(json), dumped(json));
}

TEST(JsonTree, IsTheTree) {
  JsonTree tree;
  tell(tree, kNested);
  EXPECT_EQ(tree.take(), kNested);
}

} // namespace
} // namespace msleaks::analysis
