#include "analysis/places/symbol_names.h"

#include <algorithm>
#include <fcntl.h>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace msleaks::analysis::inline places {
namespace {

// A larger table stays in its file, which stays open. Few libraries have one.
constexpr uint64_t kSmallBytes = 1 << 20;

bool readAll(int descriptor, uint64_t offset, std::string &bytes) {
  const ssize_t count = ::pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  return count == static_cast<ssize_t>(bytes.size());
}

} // namespace

std::optional<SymbolNames::Places> SymbolNames::add(const ElfFile &file, size_t section) {
  GElf_Shdr header;
  Elf_Scn *names = elf_getscn(file.handle(), section);
  struct stat status{};
  const uint64_t begin = tables_.empty() ? 0 : uint64_t{tables_.back().begin} + tables_.back().bytes + 1;
  if (!names || !gelf_getshdr(names, &header) || header.sh_type != SHT_STRTAB ||
      ::fstat(file.descriptor(), &status) != 0 || header.sh_offset > static_cast<uint64_t>(status.st_size) ||
      header.sh_size > static_cast<uint64_t>(status.st_size) - header.sh_offset ||
      header.sh_size > UINT32_MAX / 2 - std::min<uint64_t>(begin, UINT32_MAX / 2))
    return std::nullopt;
  Table table{{static_cast<uint32_t>(begin), static_cast<uint32_t>(header.sh_size)}, {}, {}, header.sh_offset};
  if (header.sh_size > kSmallBytes)
    table.file = FileDescriptor(::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0));
  if (!table.file.valid()) {
    table.names.resize(header.sh_size);
    if (!readAll(file.descriptor(), table.offset, table.names))
      return std::nullopt;
  }
  return tables_.emplace_back(std::move(table));
}

std::string_view SymbolNames::at(uint32_t place) const {
  auto table = std::upper_bound(tables_.begin(), tables_.end(), place,
                                [](uint32_t value, const Table &each) { return value < each.begin; });
  if (table == tables_.begin() || place - (--table)->begin >= table->bytes)
    return {};
  if (!table->file.valid())
    return table->names.c_str() + (place - table->begin);
  const auto [known, fresh] = read_.try_emplace(place);
  if (fresh)
    known->second = read(*table, place - table->begin);
  return known->second;
}

std::string SymbolNames::read(const Table &table, uint32_t offset) {
  std::string name;
  for (char part[512]; offset < table.bytes;) {
    const size_t most = std::min<size_t>(sizeof part, table.bytes - offset);
    const ssize_t count = ::pread(table.file.get(), part, most, static_cast<off_t>(table.offset + offset));
    if (count <= 0)
      return {};
    const std::string_view read(part, static_cast<size_t>(count));
    const size_t end = read.find('\0');
    name += read.substr(0, end);
    if (end != std::string_view::npos)
      return name;
    offset += static_cast<uint32_t>(count);
  }
  return name;
}

} // namespace msleaks::analysis::inline places
