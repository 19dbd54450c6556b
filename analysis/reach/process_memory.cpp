#include "analysis/reach/process_memory.h"

#include "analysis/base/files.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

namespace msleaks::analysis::inline reach {
namespace {

// "begin-end rwxp offset device inode path"
bool parseLine(std::string_view line, MappedRange &range) {
  const auto hex = [&](uint64_t &value, char behind) {
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
    if (error != std::errc() || end == line.data() + line.size() || *end != behind)
      return false;
    line.remove_prefix(static_cast<size_t>(end - line.data()) + 1);
    return true;
  };
  if (!hex(range.begin, '-') || !hex(range.end, ' ') || line.size() < 5)
    return false;
  range.readable = line[0] == 'r';
  range.writable = line[1] == 'w';
  range.executable = line[2] == 'x';
  line.remove_prefix(5);
  if (!hex(range.file_offset, ' '))
    return false;
  for (int field = 0; field < 2; ++field) // device and inode
    line.remove_prefix(std::min(line.size(), line.find(' ') + 1));
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
  range.path = line;
  return true;
}

} // namespace

std::vector<MappedRange> parseMaps(std::string_view text) {
  std::vector<MappedRange> ranges;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (MappedRange range; parseLine(text.substr(0, end), range))
      ranges.push_back(std::move(range));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return ranges;
}

uint64_t systemPageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

ProcessMemory::ProcessMemory(uint32_t pid)
    : pid_(pid), page_bytes_(systemPageBytes()),
      pages_(open(fmt::format("/proc/{}/pagemap", pid).c_str(), O_RDONLY | O_CLOEXEC)) {}

std::vector<MappedRange> ProcessMemory::maps() const { return parseMaps(readText(fmt::format("/proc/{}/maps", pid_))); }

uint64_t readMemory(pid_t process, uint64_t address, std::span<std::byte> to) {
  const iovec here{to.data(), to.size()};
  const iovec there{reinterpret_cast<void *>(address), to.size()}; // NOLINT: an address of the other process
  const ssize_t got = process_vm_readv(process, &here, 1, &there, 1, 0);
  return got > 0 ? static_cast<uint64_t>(got) : 0;
}

bool ProcessMemory::read(uint64_t address, std::span<std::byte> to) const {
  return readMemory(static_cast<pid_t>(pid_), address, to) == to.size();
}

std::vector<ProcessMemory::Run> ProcessMemory::touched(uint64_t begin, uint64_t end) const {
  constexpr uint64_t kBytesAtOnce = uint64_t{256} << 20; // each page of these bytes has an entry of 8 bytes
  std::vector<Run> runs;
  for (uint64_t at = begin; at < end; at += kBytesAtOnce)
    addTouched(at, std::min(end, at + kBytesAtOnce), runs);
  return runs;
}

std::vector<uint64_t> ProcessMemory::entriesOf(uint64_t begin, uint64_t end) const {
  std::vector<uint64_t> pages((end - begin) / page_bytes_);
  const auto bytes = static_cast<ssize_t>(pages.size() * sizeof(uint64_t));
  const auto at = static_cast<off_t>(begin / page_bytes_ * sizeof(uint64_t));
  if (!pages_.valid() || pread(pages_.get(), pages.data(), static_cast<size_t>(bytes), at) != bytes)
    pages.clear();
  return pages;
}

uint64_t ProcessMemory::anonymousBytes(uint64_t begin, uint64_t end) const {
  uint64_t bytes = 0;
  for (const uint64_t page : entriesOf(begin, end))
    bytes += isAnonymousPage(page) ? page_bytes_ : 0;
  return bytes;
}

void ProcessMemory::addTouched(uint64_t begin, uint64_t end, std::vector<Run> &runs) const {
  const auto add = [&runs](uint64_t from, uint64_t to) {
    if (!runs.empty() && runs.back().end == from)
      runs.back().end = to;
    else
      runs.push_back({from, to});
  };
  const std::vector<uint64_t> pages = entriesOf(begin, end);
  if (pages.empty() && end > begin)
    return add(begin, end);
  for (size_t i = 0; i < pages.size(); ++i)
    if ((pages[i] & (kPagePresent | kPageSwapped)) != 0)
      add(begin + i * page_bytes_, begin + (i + 1) * page_bytes_);
}

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

} // namespace msleaks::analysis::inline reach
