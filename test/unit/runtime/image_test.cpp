// Tests that each segment of an image counts as a part of the image, although linkers for AArch64 leave gaps between
// segments.
#include "image.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace msleaks::test {
namespace {

int written = 1;
void code() {}

runtime::ImagePlace placeOf(const void *address) {
  runtime::ImagePlace place{};
  EXPECT_TRUE(runtime::findImage(address, place));
  return place;
}

void expectOneImage(const void *in_code, const void *in_data) {
  const runtime::ImagePlace first = placeOf(in_code), second = placeOf(in_data);
  EXPECT_EQ(first.definition.begin, second.definition.begin);
  EXPECT_EQ(first.definition.end, second.definition.end);
  EXPECT_EQ(first.definition.build_id_bytes, 20u);
  EXPECT_EQ(second.definition.build_id_bytes, 20u);
  for (const void *address : {in_code, in_data}) {
    EXPECT_LE(first.definition.begin, reinterpret_cast<uint64_t>(address));
    EXPECT_GT(first.definition.end, reinterpret_cast<uint64_t>(address));
  }
}

TEST(Image, AProgramIsOne) { expectOneImage(reinterpret_cast<const void *>(&code), &written); }

TEST(Image, ALibraryIsOne) {
  expectOneImage(::dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), ::dlsym(RTLD_DEFAULT, "_IO_2_1_stdout_"));
}

} // namespace
} // namespace msleaks::test
