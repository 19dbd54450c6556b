// An ELF file, or a static archive of ELF files, which libelf has opened.
#pragma once

#include "analysis/base/result.h"

#include <cstddef>
#include <filesystem>
#include <gelf.h>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline places {

struct ElfEnd {
  void operator()(Elf *elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfEnd>;

class ElfFile {
public:
  // Fails if the file cannot be read, or if it is neither an ELF file nor an archive.
  static Result<ElfFile> open(const std::filesystem::path &);
  ElfFile(ElfFile &&other) noexcept;
  ElfFile &operator=(ElfFile &&) = delete;
  ~ElfFile();

  bool isArchive() const { return elf_kind(elf_.get()) == ELF_K_AR; }
  Elf *handle() const { return elf_.get(); }
  int descriptor() const { return descriptor_; }

private:
  ElfFile(int descriptor, ElfHandle elf) : descriptor_(descriptor), elf_(std::move(elf)) {}
  int descriptor_;
  ElfHandle elf_;
};

// Calls f(section, header) for each section of an ELF object that libelf can read.
template <class F> void forEachSection(Elf *elf, F &&f) {
  for (Elf_Scn *section = elf_nextscn(elf, nullptr); section; section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header))
      f(section, header);
  }
}

// The section's bytes in the file. Empty if the section has no bytes, or if they cannot be read.
std::span<const std::byte> bytesOf(Elf_Scn *);

// The build id of an ELF object (NT_GNU_BUILD_ID), or empty if it has none.
std::vector<std::byte> buildIdOf(Elf *);

} // namespace msleaks::analysis::inline places
