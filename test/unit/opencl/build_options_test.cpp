// Tests how the options of clBuildProgram() are converted for clang.
#include "build_options.h"

#include <gtest/gtest.h>

namespace msleaks::driver {
namespace {

using Words = std::vector<std::string>;

// Returns the converted options without the last two, which describe the device.
Words ofProgram(std::string_view options) {
  Words words = clangOptions(options, {"", ""});
  words.resize(words.size() - 2);
  return words;
}

} // namespace

TEST(BuildOptions, AreThoseOfThePreprocessorAndOfTheLanguage) {
  EXPECT_EQ(
      ofProgram("-D N=4 -DT=float  -I include -Iother -w -cl-mad-enable -cl-std=CL2.0"),
      (Words{"-D", "N=4", "-DT=float", "-I", "include", "-Iother", "-w", "-cl-mad-enable", "-cl-std=CL2.0", "-O1"}));
  EXPECT_EQ(ofProgram(""), (Words{"-cl-std=CL1.2", "-O1"}));
  EXPECT_EQ(ofProgram("-cl-opt-disable"), (Words{"-cl-opt-disable", "-cl-std=CL1.2"}));
}

TEST(BuildOptions, QuotesKeepSpaces) {
  EXPECT_EQ(ofProgram(R"x(-D "A=1 + 2" -DB="\"text\"" -I"a folder")x"),
            (Words{"-D", "A=1 + 2", R"x(-DB="text")x", "-Ia folder", "-cl-std=CL1.2", "-O1"}));
}

TEST(BuildOptions, WhatOnlyADriverKnowsIsLeftOut) {
  EXPECT_EQ(ofProgram("-cl-nv-verbose -o /etc/passwd -x spir -fplugin=evil.so @file -save-temps -D"),
            (Words{"-cl-std=CL1.2", "-O1"}));
}

TEST(BuildOptions, ExtensionsAndVersionAreTheDevices) {
  const Words words = clangOptions("", {"cl_khr_fp64 other cl_khr_int64", "300"});
  EXPECT_EQ(words, (Words{"-cl-std=CL1.2", "-O1", "-U__OPENCL_VERSION__", "-D__OPENCL_VERSION__=300", "-Xclang",
                          "-cl-ext=-all,+cl_khr_fp64,+cl_khr_int64"}));
}

} // namespace msleaks::driver
