#include "analysis/places/site_table.h"

#include "analysis/base/tables.h"
#include "analysis/places/elf_file.h"
#include "msleaks/abi/site_table.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <optional>

namespace msleaks::analysis::inline places {
namespace {

// Where the parts of a table begin. The numbers have 64 bits, so that sums of wrong 32-bit numbers cannot overflow.
struct Layout {
  uint64_t rows, frames, strings, end;
  explicit Layout(const abi::UnitHeader &header)
      : rows(header.header_bytes), frames(rows + uint64_t{header.row_count} * header.row_bytes),
        strings(frames + uint64_t{header.frame_count} * header.frame_bytes), end(strings + header.strings_bytes) {}
};

// Fields that an older writer did not know are 0.
abi::UnitHeader copyHeader(std::span<const std::byte> bytes) {
  abi::UnitHeader header{};
  std::memcpy(&header, bytes.data(), abi::kFirstHeaderBytes);
  std::memcpy(&header, bytes.data(), std::min({sizeof header, size_t{header.header_bytes}, bytes.size()}));
  return header;
}

Result<void> checkHeader(const abi::UnitHeader &header, std::span<const std::byte> bytes) {
  if (header.magic != abi::kUnitMagic)
    return fail("no site table begins here: its magic number is missing");
  // A later version may have longer headers and rows. A table with another layout would have another magic number.
  if (header.version == 0 || header.header_bytes < abi::kFirstHeaderBytes || header.row_bytes < sizeof(abi::SiteRow) ||
      header.frame_bytes < sizeof(abi::FrameRow))
    return fail("the site table is damaged: its header states impossible sizes");
  if (header.total_bytes > bytes.size())
    return fail(fmt::format("the site table is cut off: it should have {} bytes, {} are there", header.total_bytes,
                            bytes.size()));
  // The checksum does not cover the header. But its parts must fill the table, except padding: so wrong counts show.
  const uint64_t end = Layout(header).end;
  if (header.total_bytes % 8 != 0 || end > header.total_bytes || header.total_bytes - end >= 8)
    return fail("the site table is damaged: its parts do not fit into its size");
  const auto *content = reinterpret_cast<const unsigned char *>(bytes.data()) + header.header_bytes;
  if (abi::fnv1a32(content, header.total_bytes - header.header_bytes) != header.checksum)
    return fail("the site table is damaged: its checksum does not match");
  return {};
}

tl::unexpected<Error> badOffset(const char *what, uint64_t number) {
  return fail(fmt::format("the site table is damaged: {} {} points outside of it", what, number));
}

std::optional<std::vector<InlineFrame>> readFrames(const abi::UnitHeader &header, std::span<const std::byte> bytes,
                                                   const StringTable &strings) {
  std::vector<InlineFrame> frames;
  frames.reserve(header.frame_count);
  const uint64_t begin = Layout(header).frames;
  for (uint64_t i = 0; i < header.frame_count; ++i) {
    const auto row = copyRow<abi::FrameRow>(bytes, begin + i * header.frame_bytes);
    const auto function = strings.at(row.function), file = strings.at(row.file);
    if (!function || !file)
      return std::nullopt;
    frames.push_back({*function, *file, row.line, row.column});
  }
  return frames;
}

std::optional<Site> readSite(const abi::SiteRow &row, const StringTable &strings, std::span<const InlineFrame> frames) {
  const auto file = strings.at(row.file), function = strings.at(row.function), callee = strings.at(row.callee);
  const auto type = strings.at(row.type), variable = strings.at(row.variable);
  const bool chain_fits = uint64_t{row.first_frame} + row.frame_count <= frames.size();
  if (!file || !function || !callee || !type || !variable || (row.frame_count != 0 && !chain_fits))
    return std::nullopt;
  Site site;
  site.id = row.id;
  site.file = *file;
  site.line = row.line;
  site.column = row.column;
  site.function = *function;
  site.callee = *callee;
  site.type = *type;
  site.variable = *variable;
  if (row.frame_count != 0)
    site.inlined_at = frames.subspan(row.first_frame, row.frame_count);
  site.origin = SiteOrigin::Pass;
  return site;
}

} // namespace

Result<SiteTable> SiteTable::read(std::span<const std::byte> bytes) {
  if (bytes.size() < abi::kFirstHeaderBytes)
    return fail("the site table is cut off within its header");
  const abi::UnitHeader header = copyHeader(bytes);
  MSL_TRY(checkHeader(header, bytes));

  const Layout layout(header);
  const auto *text = reinterpret_cast<const char *>(bytes.data());
  SiteTable table;
  table.bytes_ = header.total_bytes;
  table.strings_ = std::make_shared<const std::vector<char>>(text + layout.strings, text + layout.end);
  const StringTable strings(*table.strings_);
  auto frames = readFrames(header, bytes, strings);
  if (!frames)
    return badOffset("a frame among", header.frame_count);
  table.frames_ = std::make_shared<const std::vector<InlineFrame>>(std::move(*frames));
  if (uint64_t{header.first_wrapper} + header.wrapper_count + header.forward_count > header.frame_count)
    return badOffset("a wrapper among", header.wrapper_count);
  const auto calls =
      std::span(*table.frames_).subspan(header.first_wrapper, header.wrapper_count + header.forward_count);
  table.wrappers_ = calls.first(header.wrapper_count);
  table.forwards_ = calls.last(header.forward_count);

  const auto source = strings.at(header.source), producer = strings.at(header.producer);
  if (!source || !producer)
    return badOffset("its header, of version", header.version);
  table.source_ = *source;
  table.producer_ = *producer;

  table.sites_.reserve(header.row_count);
  for (uint64_t i = 0; i < header.row_count; ++i) {
    const auto row = copyRow<abi::SiteRow>(bytes, layout.rows + i * header.row_bytes);
    const auto site = readSite(row, strings, *table.frames_);
    if (!site)
      return badOffset("row", i);
    table.sites_.push_back(*site);
  }
  return table;
}

Result<std::vector<SiteTable>> readSiteTables(std::span<const std::byte> section) {
  std::vector<SiteTable> tables;
  size_t at = 0;
  while (true) {
    while (at < section.size() && section[at] == std::byte{0})
      ++at;
    if (at == section.size())
      return tables;
    auto table = SiteTable::read(section.subspan(at));
    if (!table)
      return fail(fmt::format("{} (at byte {} of {})", table.error().message, at, abi::kSitesSection));
    at += table->bytes();
    tables.push_back(std::move(*table));
  }
}

namespace {

bool isLittleEndian(Elf *elf) {
  size_t size = 0;
  const char *ident = elf_getident(elf, &size);
  return ident && size > EI_DATA && ident[EI_DATA] == ELFDATA2LSB;
}

// An object file may have several sections of this name, one for each group. A linked file has one.
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

// We print the name in a line, so replaces characters that would break or colour the line.
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

} // namespace msleaks::analysis::inline places
