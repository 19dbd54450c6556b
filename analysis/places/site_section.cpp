#include "analysis/places/site_section.h"

#include "elf_file.h"

#include "msleaks/abi/site_table.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <iterator>

namespace msleaks::analysis {
namespace {

bool isLittleEndian(Elf *elf) {
  size_t size = 0;
  const char *ident = elf_getident(elf, &size);
  return ident && size > EI_DATA && ident[EI_DATA] == ELFDATA2LSB;
}

// An object file may have several sections of the name, one for each group; a linked one has one.
Result<std::vector<SiteTable>> tablesOf(Elf *elf) {
  std::vector<SiteTable> tables;
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0)
    return tables;
  Result<void> state;
  forEachSection(elf, [&](Elf_Scn *section, const GElf_Shdr &header) {
    const char *name = elf_strptr(elf, names, header.sh_name);
    if (!state || !name || std::string_view(name) != abi::kSitesSection)
      return;
    if (header.sh_type == SHT_NOBITS) {
      state = fail("its sites were stripped away (objcopy --only-keep-debug does so): look at the program itself");
      return;
    }
    const auto bytes = bytesOf(section);
    if (bytes.size() < header.sh_size) {
      state = fail(fmt::format("section {} is cut off", abi::kSitesSection));
      return;
    }
    if (!isLittleEndian(elf)) {
      state = fail("is for a big-endian machine, whose sites msleaks does not read");
      return;
    }
    auto more = readSiteTables(bytes);
    if (!more)
      state = tl::make_unexpected(more.error());
    else
      std::move(more->begin(), more->end(), std::back_inserter(tables));
  });
  if (!state)
    return tl::make_unexpected(state.error());
  return tables;
}

// Stands in lines that we print: what would break or colour them is replaced.
std::string nameOfMember(Elf *member) {
  const Elf_Arhdr *header = elf_getarhdr(member);
  std::string name = header && header->ar_name ? header->ar_name : "?";
  std::ranges::replace_if(name, [](unsigned char character) { return std::iscntrl(character) != 0; }, '?');
  return name;
}

Result<std::vector<ObjectSites>> sitesOfArchive(const ElfFile &file, const std::string &path) {
  std::vector<ObjectSites> objects;
  Elf_Cmd command = ELF_C_READ;
  while (command != ELF_C_NULL) {
    const ElfHandle member(elf_begin(file.descriptor(), command, file.handle()));
    if (!member)
      break;
    if (elf_kind(member.get()) == ELF_K_ELF) {
      auto tables = tablesOf(member.get());
      if (!tables)
        return fail(fmt::format("{}({}): {}", path, nameOfMember(member.get()), tables.error().message));
      if (!tables->empty())
        objects.push_back({nameOfMember(member.get()), std::move(*tables)});
    }
    command = elf_next(member.get());
  }
  return objects;
}

} // namespace

Result<std::vector<ObjectSites>> readSiteSections(const std::filesystem::path &path) {
  auto file = MSL_TRY(ElfFile::open(path));
  std::vector<ObjectSites> objects;
  if (file.isArchive()) {
    auto members = sitesOfArchive(file, path.string());
    if (!members)
      return members;
    objects = std::move(*members);
  } else {
    auto tables = tablesOf(file.handle());
    if (!tables)
      return fail(fmt::format("{}: {}", path.string(), tables.error().message));
    if (!tables->empty())
      objects.push_back({"", std::move(*tables)});
  }
  if (objects.empty())
    return fail(fmt::format(
        "{}: has no sites: build it with -fpass-plugin=\"$(msleaks plugin)\" or with msleaks-clang++", path.string()));
  return objects;
}

} // namespace msleaks::analysis
