// Tests that the header of a file with a block's content is valid JSON, for names of any bytes.
#include "content_file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace msleaks::test {
namespace {

using nlohmann::json;
using runtime::Content;

json headerOf(const Content &content) {
  static runtime::ContentHeader header;
  runtime::describe(content, header);
  EXPECT_TRUE(header.fits());
  EXPECT_EQ(header.size() % 8, 0u);
  return json::parse(header.c_str());
}

Content named(std::string_view name, std::string_view operation = "") {
  return {0x7f00'1000, name, nullptr, 4096, 0xabc, false, operation, 0, {}};
}

} // namespace

TEST(ContentFile, SaysWhatItIs) {
  const json header = headerOf({0x10, "weights", nullptr, 100, 0x12ab, true, "relu", 8, {}});
  EXPECT_EQ(header["weights"], json({{"dtype", "U8"}, {"shape", {100}}, {"data_offsets", {0, 100}}}));
  EXPECT_EQ(header["__metadata__"], json({{"written_by", "msleaks"},
                                          {"address", "0x10"},
                                          {"heap", "device"},
                                          {"offset", "0"},
                                          {"digest", "xxh3_64:12ab"},
                                          {"operator", "relu"},
                                          {"step", "7"}}));
}

TEST(ContentFile, WhatIsNotKnownIsNotSaid) {
  const json header = headerOf(named(""));
  EXPECT_TRUE(header.contains("0x7f001000"));
  EXPECT_FALSE(header["__metadata__"].contains("operator"));
  EXPECT_FALSE(header["__metadata__"].contains("step"));
}

TEST(ContentFile, AnyBytesAreAName) {
  EXPECT_TRUE(headerOf(named("a\"b\\c\n\x01")).contains("a\"b\\c\n\x01"));
  EXPECT_TRUE(headerOf(named("caf\u00e9 \u20ac \U0001f600")).contains("caf\u00e9 \u20ac \U0001f600"));
  EXPECT_TRUE(headerOf(named("\xff\xc3")).contains("??"));
  EXPECT_TRUE(headerOf(named("\xed\xa0\x80")).contains("???")); // one half of a surrogate pair
  EXPECT_TRUE(headerOf(named("\xc0\xaf")).contains("??"));     // an overlong encoding
  EXPECT_TRUE(headerOf(named("__metadata__")).contains("0x7f001000"));
}

TEST(ContentFile, ATensorHasItsForm) {
  Content content = named("out");
  content.form = {"BF16", 2, {32, 64}};
  EXPECT_EQ(headerOf(content)["out"], json({{"dtype", "BF16"}, {"shape", {32, 64}}, {"data_offsets", {0, 4096}}}));
  for (const runtime::TensorForm &wrong :
       {runtime::TensorForm{"F32", 2, {32, 64}}, {"BF16", 1, {-2048}}, {"", 1, {4096}}, {"F64", 2, {1 << 30, 1 << 30}}}) {
    content.form = wrong;
    EXPECT_EQ(headerOf(content)["out"]["dtype"], "U8");
  }
  content.form = {"BOOL", 1, {4096}};
  EXPECT_EQ(headerOf(content)["out"]["dtype"], "BOOL");
}

// Only the first number in the name of a type is the size of an element in bits.
TEST(ContentFile, AnElementHasTheBitsThatItsTypeNames) {
  Content content = named("out");
  content.size_bytes = 3072;
  const std::pair<runtime::TensorForm, bool> forms[] = {{{"F8_E4M3", 1, {3072}}, true},
                                                        {{"F8_E8M0", 1, {3072}}, true},
                                                        {{"F8_E4M3FNUZ", 2, {3, 1024}}, true},
                                                        {{"C64", 1, {384}}, true},
                                                        {{"F4", 1, {6144}}, true},
                                                        {{"F6_E2M3", 1, {4096}}, true},
                                                        {{"F4", 1, {3072}}, false},
                                                        {{"F4", 1, {6145}}, false},
                                                        {{"F6_E2M3", 1, {3072}}, false}};
  for (const auto &[form, is_kept] : forms) {
    content.form = form;
    EXPECT_EQ(headerOf(content)["out"]["dtype"], is_kept ? form.type : "U8") << form.type << " " << form.extents[0];
  }
}

TEST(ContentFile, LongNamesAreCutOff) {
  const json header = headerOf(named(std::string(4096, '\x02'), std::string(4096, 'o')));
  EXPECT_TRUE(header.contains(std::string(512, '\x02')));
  EXPECT_EQ(header["__metadata__"]["operator"], std::string(512, 'o'));
}

} // namespace msleaks::test
