#include "analysis/collect/image_memory.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace msleaks::analysis {
namespace {

constexpr size_t kMostHeaders = 64, kMostNoteBytes = 4096;

std::vector<std::byte> buildIdIn(const std::vector<std::byte> &notes) {
  for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    Elf64_Nhdr note;
    std::memcpy(&note, &notes[at], sizeof note);
    const size_t name = at + sizeof note, content = name + ((size_t{note.n_namesz} + 3) & ~size_t{3});
    if (content + note.n_descsz > notes.size())
      break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(&notes[name], "GNU", 4) == 0)
      return {notes.begin() + static_cast<ptrdiff_t>(content),
              notes.begin() + static_cast<ptrdiff_t>(content + note.n_descsz)};
    at = content + ((size_t{note.n_descsz} + 3) & ~size_t{3});
  }
  return {};
}

} // namespace

LoadedImage readImage(const ProcessMemory &memory, uint64_t begin) {
  LoadedImage image;
  Elf64_Ehdr header;
  if (!memory.read(begin, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return image;
  image.load_bias = header.e_type == ET_EXEC ? 0 : begin;
  std::vector<Elf64_Phdr> segments(std::min<size_t>(header.e_phnum, kMostHeaders));
  if (!memory.read(begin + header.e_phoff, std::as_writable_bytes(std::span(segments))))
    return image;
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type == PT_LOAD)
      image.end = std::max(image.end, image.load_bias + segment.p_vaddr + segment.p_memsz);
    if (segment.p_type == PT_TLS)
      image.thread_local_bytes = segment.p_memsz + segment.p_align;
    if (segment.p_type != PT_NOTE || !image.build_id.empty())
      continue;
    std::vector<std::byte> notes(std::min<size_t>(segment.p_memsz, kMostNoteBytes));
    if (memory.read(image.load_bias + segment.p_vaddr, notes))
      image.build_id = buildIdIn(notes);
  }
  return image;
}

} // namespace msleaks::analysis
