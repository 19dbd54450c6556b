// Tests how the hooks read the names of kernels from a device's binary.
#include "counting/device_binary.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace msleaks::hooks {
namespace {

// Builds an ELF file with a symbol table and a string table.
class Binary {
public:
  void add(const char *name, unsigned char bind = STB_GLOBAL, unsigned char type = STT_FUNC, uint16_t section = 1) {
    symbols_.push_back({static_cast<uint32_t>(names_.size()), static_cast<unsigned char>(ELF64_ST_INFO(bind, type)), 0,
                        section, 0, 0});
    names_ += std::string(name) + '\0';
  }
  std::string bytes() const {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_shoff = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    Elf64_Shdr sections[3]{};
    sections[1].sh_type = SHT_SYMTAB;
    sections[1].sh_link = 2;
    sections[1].sh_offset = sizeof header + sizeof sections;
    sections[1].sh_size = symbols_.size() * sizeof(Elf64_Sym);
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = sections[1].sh_offset + sections[1].sh_size;
    sections[2].sh_size = names_.size();
    std::string bytes(reinterpret_cast<const char *>(&header), sizeof header);
    bytes.append(reinterpret_cast<const char *>(sections), sizeof sections);
    bytes.append(reinterpret_cast<const char *>(symbols_.data()), sections[1].sh_size);
    return bytes + names_;
  }

private:
  std::vector<Elf64_Sym> symbols_;
  std::string names_{'\0'};
};

// Returns the names of the kernels. Copies the bytes to memory of exactly their size, so that AddressSanitizer detects
// any read beyond them.
std::vector<std::string> kernelsOf(const std::string &bytes) {
  const std::vector<char> memory(bytes.begin(), bytes.end());
  std::vector<std::string> names;
  DeviceBinary(memory.data(), memory.size()).forEachKernel([&](std::string_view name) { names.emplace_back(name); });
  return names;
}

std::string nameOf(std::initializer_list<const char *> kernels) {
  NameOfKernels names;
  for (const char *kernel : kernels)
    names.add(kernel);
  return std::string(names.get());
}

bool hasName(const std::string &bytes, const char *name) {
  const std::vector<char> memory(bytes.begin(), bytes.end());
  return DeviceBinary(memory.data(), memory.size()).mentions(std::string_view(name, std::strlen(name) + 1));
}

using Names = std::vector<std::string>;

} // namespace

TEST(DeviceBinary, HasANameToItsEnd) {
  Binary binary;
  binary.add("__msl_counted_add");
  const std::string bytes = binary.bytes();
  EXPECT_TRUE(hasName(bytes, "__msl_counted_add"));
  EXPECT_FALSE(hasName(bytes, "__msl_counted_a"));
  EXPECT_FALSE(hasName(bytes, "__msl_counted_add2"));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(hasName(bytes.substr(0, size), "__msl_counted_add")) << size;
  EXPECT_FALSE(DeviceBinary(nullptr, 0).mentions("a"));
  EXPECT_TRUE(DeviceBinary(bytes.data(), bytes.size()).mentions("__msl_counted_")) << "of a name";
}

TEST(DeviceBinary, ItsKernelsAreWhatItExports) {
  Binary binary;
  binary.add("");
  binary.add("MatMul_1");
  binary.add("helper", STB_LOCAL);
  binary.add("table", STB_GLOBAL, STT_OBJECT);
  binary.add("elsewhere", STB_GLOBAL, STT_FUNC, SHN_UNDEF);
  binary.add("MatMul_2");
  EXPECT_EQ(kernelsOf(binary.bytes()), (Names{"MatMul_1", "MatMul_2"}));
}

TEST(DeviceBinary, OneThatIsCutOffIsReadAsFarAsItGoes) {
  Binary binary;
  binary.add("one");
  binary.add("two");
  const std::string whole = binary.bytes();
  for (size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_EQ(kernelsOf(whole.substr(0, bytes)), Names{}) << bytes;
}

TEST(DeviceBinary, AByteThatIsWrongIsHarmless) {
  Binary binary;
  binary.add("one");
  const std::string whole = binary.bytes();
  for (size_t at = 0; at < whole.size(); ++at)
    for (const unsigned bit : {0u, 3u, 7u}) {
      std::string wrong = whole;
      wrong[at] = static_cast<char>(wrong[at] ^ 1 << bit);
      for (const std::string &name : kernelsOf(wrong))
        EXPECT_FALSE(name.empty());
    }
}

TEST(NameOfKernels, IsThatOfTheOnlyOneOrOfAll) {
  EXPECT_EQ(nameOf({}), "");
  EXPECT_EQ(nameOf({"Add_17"}), "Add_17");
  EXPECT_EQ(nameOf({"Add_17_mix_aic", "Add_17_mix_aiv"}), "Add_17");
  EXPECT_EQ(nameOf({"MatMul_10", "MatMul_11", "MatMul_2"}), "MatMul");
  EXPECT_EQ(nameOf({"MatMul_0_mix_aic", "MatMul_0_mix_aiv", "MatMul_1"}), "MatMul");
  EXPECT_EQ(nameOf({"Add_1", "Mul_1"}), "");
  EXPECT_EQ(nameOf({"Add_1", "Mul_1", "Add_2"}), "") << "they stay several";
  EXPECT_EQ(nameOf({"_1", "_mix_aic"}), "");
}

} // namespace msleaks::hooks
