#include "loaded_object.h"

#include "system.h"

#include "msleaks/runtime/page.h"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <sys/auxv.h>

// glibc has this function since 2.35. The symbol is weak, so the runtime can also be loaded with an older glibc.
extern "C" [[gnu::weak]] int _dl_find_object(void *, dl_find_object *) noexcept;

namespace msleaks::runtime {

constinit bool loader_needs_no_lock = true;

namespace {

bool tellsWithoutLock() noexcept { return _dl_find_object != nullptr && loader_needs_no_lock; }

bool isElfHeader(uint64_t address) noexcept {
  const auto *header = reinterpret_cast<const ElfW(Ehdr) *>(address);
  return std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_phentsize == sizeof(ElfW(Phdr));
}

bool isMapped(uint64_t address) noexcept {
  unsigned char resident;
  return callKernel(SYS_mincore, address & ~(pageBytes() - 1), 1, &resident) == 0;
}

void takeElfHeader(uint64_t address, LoadedObject &object) noexcept {
  const auto *header = reinterpret_cast<const ElfW(Ehdr) *>(address);
  object.headers = reinterpret_cast<const ElfW(Phdr) *>(address + header->e_phoff);
  object.header_count = header->e_phnum;
}

// glibc returns one of two ranges. If the object's segments have no gaps, it is the range of the whole object. With
// common linkers, this range begins with the ELF header. If the segments have gaps, as on AArch64, it is the range of
// the segment that contains the address. The program's headers are then found by AT_PHDR. A library's headers are at
// its load bias, unless the library was linked to a fixed address.
bool findWithoutLock(uint64_t address, LoadedObject &object) noexcept {
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void *>(address), &found) != 0)
    return false;
  object.begin = reinterpret_cast<uint64_t>(found.dlfo_map_start);
  object.end = reinterpret_cast<uint64_t>(found.dlfo_map_end);
  object.load_bias = found.dlfo_link_map->l_addr;
  object.name = found.dlfo_link_map->l_name;
  object.eh_frame_header = reinterpret_cast<uint64_t>(found.dlfo_eh_frame);
  if (isElfHeader(object.begin)) {
    takeElfHeader(object.begin, object);
  } else if (object.name[0] == 0) {
    object.headers = reinterpret_cast<const ElfW(Phdr) *>(::getauxval(AT_PHDR));
    object.header_count = static_cast<unsigned>(::getauxval(AT_PHNUM));
  } else if (object.load_bias != 0 && isMapped(object.load_bias) && isElfHeader(object.load_bias)) {
    takeElfHeader(object.load_bias, object);
  }
  return true;
}

struct Search {
  uint64_t address;
  LoadedObject *object;
};

int visit(dl_phdr_info *info, size_t, void *argument) noexcept {
  const auto &search = *static_cast<Search *>(argument);
  LoadedObject object{info->dlpi_addr, info->dlpi_name, info->dlpi_phdr, info->dlpi_phnum, 0, 0, 0};
  for (unsigned i = 0; i < object.header_count; ++i) {
    const ElfW(Phdr) &header = object.headers[i];
    const uint64_t begin = object.load_bias + header.p_vaddr;
    if (header.p_type == PT_GNU_EH_FRAME)
      object.eh_frame_header = begin;
    if (header.p_type == PT_LOAD && search.address - begin < header.p_memsz) {
      object.begin = begin;
      object.end = begin + header.p_memsz;
    }
  }
  if (object.end == 0)
    return 0;
  *search.object = object;
  return 1;
}

} // namespace

bool findLoadedRange(uint64_t address, LoadedRange &range) noexcept {
  dl_find_object found;
  if (!tellsWithoutLock() || _dl_find_object(reinterpret_cast<void *>(address), &found) != 0)
    return false;
  range.begin = reinterpret_cast<uint64_t>(found.dlfo_map_start);
  range.end = reinterpret_cast<uint64_t>(found.dlfo_map_end);
  return true;
}

bool findLoadedObject(uint64_t address, LoadedObject &object) noexcept {
  object = {};
  if (tellsWithoutLock())
    return findWithoutLock(address, object);
  Search search{address, &object};
  return ::dl_iterate_phdr(visit, &search) != 0;
}

} // namespace msleaks::runtime
