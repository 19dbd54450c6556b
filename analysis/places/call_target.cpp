#include "analysis/places/call_target.h"

#include <algorithm>
#include <unistd.h>

namespace msleaks::analysis::inline places {
namespace {

bool importsFunction(unsigned machine, uint64_t type) {
  return machine == EM_X86_64 ? type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT
                              : type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

// Extends the sign of a field that consists of the lowest `bits`.
int64_t extended(uint64_t field, unsigned bits) { return static_cast<int64_t>(field << (64 - bits)) >> (64 - bits); }

void readSlots(Elf *elf, Elf_Scn *section, const GElf_Shdr &header, unsigned machine,
               std::unordered_map<uint64_t, std::string> &slots) {
  Elf_Data *relocations = elf_getdata(section, nullptr);
  Elf_Scn *symbols = elf_getscn(elf, header.sh_link);
  GElf_Shdr symbols_header;
  if (!relocations || !symbols || !gelf_getshdr(symbols, &symbols_header) || header.sh_entsize == 0)
    return;
  Elf_Data *table = elf_getdata(symbols, nullptr);
  for (size_t i = 0; table && i < std::min<size_t>(header.sh_size / header.sh_entsize, INT32_MAX); ++i) {
    GElf_Rela relocation;
    GElf_Sym symbol;
    if (!gelf_getrela(relocations, static_cast<int>(i), &relocation))
      return;
    if (!importsFunction(machine, GELF_R_TYPE(relocation.r_info)) ||
        !gelf_getsym(table, static_cast<int>(GELF_R_SYM(relocation.r_info)), &symbol))
      continue;
    if (const char *name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name); name && *name)
      slots.try_emplace(relocation.r_offset, name);
  }
}

} // namespace

CallTargets CallTargets::of(const ElfFile &file) {
  CallTargets targets;
  Elf *elf = file.handle();
  GElf_Ehdr header;
  if (!gelf_getehdr(elf, &header) || (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64))
    return targets;
  targets.machine_ = header.e_machine;
  size_t segments = 0;
  elf_getphdrnum(elf, &segments);
  for (size_t i = 0; i < segments; ++i)
    if (GElf_Phdr segment;
        gelf_getphdr(elf, static_cast<int>(i), &segment) && segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
      targets.code_.push_back({segment.p_vaddr, segment.p_filesz, segment.p_offset});
  forEachSection(elf, [&](Elf_Scn *section, const GElf_Shdr &section_header) {
    if (section_header.sh_type == SHT_RELA)
      readSlots(elf, section, section_header, targets.machine_, targets.slots_);
  });
  return targets;
}

CallTargets::Target CallTargets::before(const ElfFile &file, uint64_t address) const {
  switch (machine_) {
  case EM_X86_64:
    return calledByX86(file, address);
  case EM_AARCH64:
    return calledByAArch64(file, address);
  default:
    return {};
  }
}

bool CallTargets::read(const ElfFile &file, uint64_t address, void *to, size_t bytes) const {
  for (const Segment &segment : code_)
    if (address >= segment.address && bytes <= segment.bytes && address - segment.address <= segment.bytes - bytes)
      return pread(file.descriptor(), to, bytes, static_cast<off_t>(segment.offset + (address - segment.address))) ==
             static_cast<ssize_t>(bytes);
  return false;
}

template <class T> T CallTargets::at(const ElfFile &file, uint64_t address) const {
  T value = 0;
  return read(file, address, &value, sizeof value) ? value : 0;
}

CallTargets::Target CallTargets::through(uint64_t slot) const {
  const auto known = slots_.find(slot);
  return known == slots_.end() ? Target{} : Target{known->second, 0};
}

// call rel32:         e8 rel32
// call *slot(%rip):   ff 15 rel32      built with -fno-plt
CallTargets::Target CallTargets::calledByX86(const ElfFile &file, uint64_t address) const {
  const uint64_t relative = address + static_cast<uint64_t>(int64_t{at<int32_t>(file, address - 4)});
  if (at<uint16_t>(file, address - 6) == 0x15ff)
    return through(relative);
  if (at<uint8_t>(file, address - 5) != 0xe8)
    return {};
  const Target imported = through(slotOfX86Stub(file, relative));
  return imported.imported.empty() ? Target{{}, relative} : imported;
}

// [endbr64] [bnd] jmp *slot(%rip):   [f3 0f 1e fa] [f2] ff 25 rel32
uint64_t CallTargets::slotOfX86Stub(const ElfFile &file, uint64_t stub) const {
  if (at<uint32_t>(file, stub) == 0xfa1e0ff3)
    stub += 4;
  if (at<uint8_t>(file, stub) == 0xf2)
    stub += 1;
  if (at<uint16_t>(file, stub) != 0x25ff)
    return 0;
  return stub + 6 + static_cast<uint64_t>(int64_t{at<int32_t>(file, stub + 2)});
}

// bl target
CallTargets::Target CallTargets::calledByAArch64(const ElfFile &file, uint64_t address) const {
  const auto word = at<uint32_t>(file, address - 4);
  if ((word & 0xfc000000) != 0x94000000)
    return {};
  const uint64_t target = address - 4 + static_cast<uint64_t>(extended(word & 0x3ffffff, 26) * 4);
  const Target imported = through(slotOfAArch64Stub(file, target));
  return imported.imported.empty() ? Target{{}, target} : imported;
}

// [bti c]; adrp x16, page of the slot; ldr x17, [x16, its place in the page]
uint64_t CallTargets::slotOfAArch64Stub(const ElfFile &file, uint64_t stub) const {
  if (at<uint32_t>(file, stub) == 0xd503245f)
    stub += 4;
  const auto page = at<uint32_t>(file, stub), load = at<uint32_t>(file, stub + 4);
  if ((page & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
    return 0;
  const uint64_t pages = (uint64_t{page} >> 5 & 0x7ffff) << 2 | (page >> 29 & 3);
  return (stub & ~uint64_t{0xfff}) + (static_cast<uint64_t>(extended(pages, 21)) << 12) +
         uint64_t{load >> 10 & 0xfff} * 8;
}

} // namespace msleaks::analysis::inline places
