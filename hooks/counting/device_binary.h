// Reads the kernels of a device's binary in memory: a 64-bit ELF file, for example from CANN's compilers. The content
// is not trusted: parts that do not lie inside the binary are ignored. Only functions of std::string_view that cannot
// throw are used, because libstdc++ is not linked.
#pragma once

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string_view>

namespace msleaks::hooks {

class DeviceBinary {
public:
  DeviceBinary(const void *begin, uint64_t bytes) : begin_(static_cast<const char *>(begin)), bytes_(bytes) {}

  // Calls f(name) for each function that the binary exports. The text of the name ends with 0.
  template <class F> void forEachKernel(F &&f) const {
    Elf64_Ehdr header;
    if (begin_ == nullptr || !copy(header, 0) || !isElf64(header) || header.e_shentsize < sizeof(Elf64_Shdr))
      return;
    for (uint32_t number = 0; number < header.e_shnum; ++number)
      if (Elf64_Shdr table, names; copySection(table, header, number) && table.sh_type == SHT_SYMTAB &&
                                   copySection(names, header, table.sh_link) && names.sh_type == SHT_STRTAB)
        forEachFunction(table, names, f);
  }

  // Whether one of the binary's string tables contains this text. A name in a table ends with 0. A linker may store a
  // name as the end of a longer name.
  bool mentions(std::string_view text) const {
    Elf64_Ehdr header;
    if (begin_ == nullptr || !copy(header, 0) || !isElf64(header) || header.e_shentsize < sizeof(Elf64_Shdr))
      return false;
    for (uint32_t number = 0; number < header.e_shnum; ++number)
      if (Elf64_Shdr section;
          copySection(section, header, number) && section.sh_type == SHT_STRTAB &&
          ::memmem(begin_ + section.sh_offset, section.sh_size, text.data(), text.size()) != nullptr)
        return true;
    return false;
  }

private:
  static bool isElf64(const Elf64_Ehdr &header) {
    return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_ident[EI_DATA] == ELFDATA2LSB;
  }
  bool holds(uint64_t offset, uint64_t bytes) const { return offset <= bytes_ && bytes <= bytes_ - offset; }
  template <class Record> bool copy(Record &record, uint64_t offset) const {
    if (!holds(offset, sizeof record))
      return false;
    std::memcpy(&record, begin_ + offset, sizeof record);
    return true;
  }
  bool copySection(Elf64_Shdr &section, const Elf64_Ehdr &header, uint64_t number) const {
    uint64_t offset = 0;
    return number < header.e_shnum && !__builtin_add_overflow(header.e_shoff, number * header.e_shentsize, &offset) &&
           copy(section, offset) && holds(section.sh_offset, section.sh_size);
  }
  static bool isKernel(const Elf64_Sym &symbol) {
    return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL &&
           symbol.st_shndx != SHN_UNDEF;
  }
  template <class F> void forEachFunction(const Elf64_Shdr &table, const Elf64_Shdr &names, F &f) const {
    const std::string_view texts(begin_ + names.sh_offset, names.sh_size);
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!copy(symbol, table.sh_offset + at) || !isKernel(symbol) || symbol.st_name >= texts.size())
        continue;
      if (const size_t end = texts.find('\0', symbol.st_name); end != texts.npos && end != symbol.st_name)
        f(std::string_view(texts.data() + symbol.st_name, end - symbol.st_name));
    }
  }

  const char *begin_;
  uint64_t bytes_;
};

// The common name of a binary's kernels. If there are several, it is the name without the endings that tell them apart.
// These are "_mix_aic" and "_mix_aiv" for the two kinds of cores, and "_<number>" for the way in which the work is
// split. Empty: the kernels have no common name.
class NameOfKernels {
public:
  void add(std::string_view name) {
    name = withoutCores(name);
    const std::string_view base = withoutKey(name);
    if (is_first_)
      name_ = name;
    else if (name_ != name)
      name_ = withoutKey(name_) == base ? base : std::string_view();
    is_first_ = false;
  }
  std::string_view get() const { return name_; }

private:
  static std::string_view withoutCores(std::string_view name) {
    for (const std::string_view core : {"_mix_aic", "_mix_aiv"})
      if (name.size() > core.size() && name.ends_with(core))
        return name.substr(0, name.size() - core.size());
    return name;
  }
  static std::string_view withoutKey(std::string_view name) {
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    const bool has_key = digits > 1 && digits < name.size() && name[digits - 1] == '_';
    return has_key ? name.substr(0, digits - 1) : name;
  }
  std::string_view name_;
  bool is_first_ = true;
};

} // namespace msleaks::hooks
