// A fixture that compiles ELF files with the build's compiler, in a temporary folder.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <vector>

namespace msleaks::test {

class ElfFixture : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "msleaks-sites-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::filesystem::path write(const std::string &name, const std::string &text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return folder / name;
  }
  std::filesystem::path writeBytes(const std::string &name, std::span<const std::byte> bytes) {
    return write(name, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  }
  static std::vector<std::byte> readBytes(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto *first = reinterpret_cast<const std::byte *>(text.data());
    return {first, first + text.size()};
  }

  // Returns assembler text for a section with these bytes, as the compiler plug-in would emit it.
  static std::string sectionText(std::span<const std::byte> bytes) {
    std::string text = ".section msl_sites,\"a\",@progbits\n.balign 8\n";
    for (const std::byte byte : bytes)
      text += ".byte " + std::to_string(static_cast<int>(byte)) + "\n";
    return text + ".section .note.GNU-stack,\"\",@progbits\n";
  }

  // Runs `command` in the folder. The command may name the build's tools as $CC, $STRIP and $OBJCOPY.
  void run(const std::string &command) {
    const std::string line = "cd '" + folder.string() +
                             "' && CC='" MSL_TEST_CC "' STRIP='" MSL_TEST_STRIP "' OBJCOPY='" MSL_TEST_OBJCOPY "' && " +
                             command + " 2>run.log";
    ASSERT_EQ(std::system(line.c_str()), 0) << line;
  }

  std::filesystem::path folder;
};

} // namespace msleaks::test
