#include "analysis/counts/code_extract.h"

#include "analysis/places/elf_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <span>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace msleaks::analysis::profiles {
namespace {

constexpr uint64_t kSmallBytes = 64 << 10; // smaller sections are copied, whatever they contain
constexpr uint64_t kLargeImageBytes = 16 << 20;
constexpr size_t kFewRuns = 4;
constexpr size_t kCopyStep = 1 << 20;

// Copies bytes from one file to the same place of another file.
class Copy {
public:
  Copy(int from, int to) : from_(from), to_(to), buffer_(kCopyStep) {}

  bool bytes(uint64_t offset, uint64_t size) {
    while (size > 0) {
      const ssize_t count =
          ::pread(from_, buffer_.data(), std::min<uint64_t>(size, buffer_.size()), static_cast<off_t>(offset));
      if (count <= 0 || !put(offset, std::span(buffer_).first(static_cast<size_t>(count))))
        return false;
      offset += static_cast<uint64_t>(count);
      size -= static_cast<uint64_t>(count);
    }
    return true;
  }
  bool put(uint64_t offset, std::span<const char> content) {
    return ::pwrite(to_, content.data(), content.size(), static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(content.size());
  }

private:
  int from_, to_;
  std::vector<char> buffer_;
};

bool isSymbolic(uint32_t type) {
  return type == SHT_SYMTAB || type == SHT_DYNSYM || type == SHT_STRTAB || type == SHT_GNU_versym ||
         type == SHT_GNU_verdef || type == SHT_GNU_verneed || type == SHT_DYNAMIC;
}

// Returns the relocations that name a symbol. objdump names the entries of a PLT by some of them. Most relocations of a
// library name no symbol.
std::vector<Elf64_Rela> withSymbols(int file, const Elf64_Shdr &section) {
  std::vector<Elf64_Rela> all(section.sh_size / sizeof(Elf64_Rela));
  const auto size = static_cast<ssize_t>(all.size() * sizeof(Elf64_Rela));
  if (::pread(file, all.data(), static_cast<size_t>(size), static_cast<off_t>(section.sh_offset)) != size)
    return {};
  std::erase_if(all, [](const Elf64_Rela &entry) { return ELF64_R_SYM(entry.r_info) == 0 || entry.r_addend != 0; });
  return all;
}

template <class T> std::span<const char> bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

class Extraction {
public:
  Extraction(int from, int to, uint64_t size) : from_(from), size_(size), copy_(from, to) {}

  bool run(const std::vector<AddressRange> &ranges) {
    if (::pread(from_, &header_, sizeof header_, 0) != sizeof header_ || header_.e_shentsize != sizeof(Elf64_Shdr) ||
        header_.e_shnum == 0 || header_.e_shnum > UINT16_MAX / 2)
      return false;
    sections_.resize(header_.e_shnum);
    const auto size = static_cast<ssize_t>(sections_.size() * sizeof(Elf64_Shdr));
    if (::pread(from_, sections_.data(), static_cast<size_t>(size), static_cast<off_t>(header_.e_shoff)) != size ||
        !copy_.bytes(0, std::min<uint64_t>(size_, kSmallBytes)))
      return false;
    std::vector<Elf64_Shdr> codes;
    for (Elf64_Shdr &section : sections_)
      if (!addSection(section, ranges, codes))
        return false;
    sections_.insert(sections_.end(), codes.begin(), codes.end());
    header_.e_shoff = (size_ + 7) / 8 * 8; // The larger table of sections follows all other content.
    header_.e_shnum = static_cast<uint16_t>(sections_.size());
    return sections_.size() < SHN_LORESERVE && copy_.put(header_.e_shoff, bytesOf(sections_)) &&
           copy_.put(0, {reinterpret_cast<const char *>(&header_), sizeof header_});
  }

private:
  bool addSection(Elf64_Shdr &section, const std::vector<AddressRange> &ranges, std::vector<Elf64_Shdr> &codes) {
    if (section.sh_type == SHT_NULL || section.sh_type == SHT_NOBITS)
      return true;
    if (section.sh_offset > size_ || section.sh_size > size_ - section.sh_offset)
      return false;
    if (section.sh_type == SHT_RELA && section.sh_size > kSmallBytes) {
      const std::vector<Elf64_Rela> kept = withSymbols(from_, section);
      section.sh_size = kept.size() * sizeof(Elf64_Rela);
      return copy_.put(section.sh_offset, bytesOf(kept));
    }
    if (isSymbolic(section.sh_type) || section.sh_size <= kSmallBytes)
      return addCode(section, ranges, codes) && copy_.bytes(section.sh_offset, section.sh_size);
    if (!addCode(section, ranges, codes))
      return false;
    section.sh_type = SHT_NOBITS; // The symbols of the section stay.
    return true;
  }

  // Adds each range that begins in the section to `codes`, as a section of its own.
  bool addCode(Elf64_Shdr &section, const std::vector<AddressRange> &ranges, std::vector<Elf64_Shdr> &codes) {
    if ((section.sh_flags & SHF_EXECINSTR) == 0)
      return true;
    for (const AddressRange &range : ranges) {
      if (range.begin < section.sh_addr || range.begin - section.sh_addr >= section.sh_size)
        continue;
      Elf64_Shdr code = section;
      code.sh_addr = range.begin;
      code.sh_offset += range.begin - section.sh_addr;
      code.sh_size = std::min(range.end, section.sh_addr + section.sh_size) - range.begin;
      code.sh_addralign = 1;
      codes.push_back(code);
      if (!copy_.bytes(code.sh_offset, code.sh_size))
        return false;
    }
    section.sh_flags &= ~static_cast<uint64_t>(SHF_EXECINSTR); // objdump does not show the rest of the section.
    return true;
  }

  int from_;
  uint64_t size_;
  Copy copy_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
};

} // namespace

bool CodeExtract::pays(const std::string &image, size_t runs) {
  struct stat status{};
  return runs > kFewRuns ||
         (::stat(image.c_str(), &status) == 0 && static_cast<uint64_t>(status.st_size) > kLargeImageBytes);
}

std::optional<CodeExtract> CodeExtract::of(const std::string &image, const std::vector<AddressRange> &ranges) {
  const auto elf = ElfFile::open(image);
  struct stat status{};
  if (!elf || elf->isArchive() || gelf_getclass(elf->handle()) != ELFCLASS64 ||
      ::fstat(elf->descriptor(), &status) != 0)
    return std::nullopt;
  const char *ident = elf_getident(elf->handle(), nullptr);
  const unsigned char native = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  FileDescriptor file(::memfd_create("msleaks-code", MFD_CLOEXEC));
  if (!ident || static_cast<unsigned char>(ident[EI_DATA]) != native || !file.valid() ||
      ::ftruncate(file.get(), status.st_size) != 0)
    return std::nullopt;
  if (!Extraction(elf->descriptor(), file.get(), static_cast<uint64_t>(status.st_size)).run(ranges))
    return std::nullopt;
  return CodeExtract(std::move(file));
}

std::string CodeExtract::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), file_.get()); }

} // namespace msleaks::analysis::profiles
