#include "analysis/places/site_table_reader.h"

#include "analysis/base/copy_row.h"
#include "analysis/base/string_table.h"

#include "msleaks/abi/site_table.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>

namespace msleaks::analysis {
namespace {

// Where the parts of a table lie; 64-bit, so that sums of hostile 32-bit numbers cannot wrap.
struct Layout {
  uint64_t rows, frames, strings, end;
  explicit Layout(const abi::UnitHeader &header)
      : rows(header.header_bytes), frames(rows + uint64_t{header.row_count} * header.row_bytes),
        strings(frames + uint64_t{header.frame_count} * header.frame_bytes), end(strings + header.strings_bytes) {}
};

// What an older writer did not know is 0.
abi::UnitHeader copyHeader(std::span<const std::byte> bytes) {
  abi::UnitHeader header{};
  std::memcpy(&header, bytes.data(), abi::kFirstHeaderBytes);
  std::memcpy(&header, bytes.data(), std::min({sizeof header, size_t{header.header_bytes}, bytes.size()}));
  return header;
}

Result<void> checkHeader(const abi::UnitHeader &header, std::span<const std::byte> bytes) {
  if (header.magic != abi::kUnitMagic)
    return fail("no site table begins here: its magic number is missing");
  // A later version may have longer headers and rows; another layout would have another magic number.
  if (header.version == 0 || header.header_bytes < abi::kFirstHeaderBytes || header.row_bytes < sizeof(abi::SiteRow) ||
      header.frame_bytes < sizeof(abi::FrameRow))
    return fail("the site table is damaged: its header states impossible sizes");
  if (header.total_bytes > bytes.size())
    return fail(fmt::format("the site table is cut off: it should have {} bytes, {} are there", header.total_bytes,
                            bytes.size()));
  // The header is outside of the checksum; that its parts fill the table, but for padding, notices a wrong count.
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

} // namespace msleaks::analysis
