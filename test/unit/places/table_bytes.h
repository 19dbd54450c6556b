// Builds site tables as the compiler plug-in does. A test can change rows, frames, strings and the version before it
// calls build(), which computes the remaining fields of the header.
#pragma once

#include "msleaks/abi/site_table.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace msleaks::test {

class TableBytes {
public:
  uint16_t header_bytes = sizeof(abi::UnitHeader);
  uint16_t row_bytes = sizeof(abi::SiteRow);
  uint16_t frame_bytes = sizeof(abi::FrameRow);
  uint16_t version = abi::kObjectVersion;
  std::string source, producer;
  std::vector<abi::SiteRow> rows;
  std::vector<abi::FrameRow> frames;
  uint32_t wrappers = 0, forwards = 0; // how many of the last frames belong to wrappers, and to forwarding functions
  std::string strings = std::string(1, '\0');

  abi::StringOffset text(const std::string &value) {
    if (value.empty())
      return 0;
    const auto offset = static_cast<abi::StringOffset>(strings.size());
    strings += value;
    strings.push_back('\0');
    return offset;
  }

  // `junk` fills the bytes after the known fields of header, rows and frames, as if a newer writer had added fields.
  std::vector<std::byte> build(unsigned char junk = 0xee) {
    abi::UnitHeader header{};
    header.magic = abi::kUnitMagic;
    header.version = version;
    header.header_bytes = header_bytes;
    header.row_count = static_cast<uint32_t>(rows.size());
    header.row_bytes = row_bytes;
    header.frame_bytes = frame_bytes;
    header.frame_count = static_cast<uint32_t>(frames.size());
    header.first_wrapper = header.frame_count - wrappers - forwards;
    header.wrapper_count = wrappers;
    header.forward_count = forwards;
    header.source = text(source);
    header.producer = text(producer);
    header.strings_bytes = static_cast<uint32_t>(strings.size());

    std::string content;
    for (const auto &row : rows)
      append(content, &row, sizeof row, row_bytes, junk);
    for (const auto &frame : frames)
      append(content, &frame, sizeof frame, frame_bytes, junk);
    content += strings;
    while ((header_bytes + content.size()) % 8 != 0)
      content.push_back('\0');
    header.total_bytes = static_cast<uint32_t>(header_bytes + content.size());
    header.checksum = abi::fnv1a32(reinterpret_cast<const unsigned char *>(content.data()), content.size());

    std::string all;
    append(all, &header, sizeof header, header_bytes, junk);
    all += content;
    const auto *first = reinterpret_cast<const std::byte *>(all.data());
    return {first, first + all.size()};
  }

private:
  static void append(std::string &to, const void *from, size_t bytes, size_t padded, unsigned char junk) {
    to.append(static_cast<const char *>(from), std::min(bytes, padded)); // an older writer wrote fewer fields
    to.append(std::max(bytes, padded) - bytes, static_cast<char>(junk));
  }
};

// Returns the table of one unit with three sites. The first has all facts, the second has two frames of inlined calls,
// and the third has only an id.
inline TableBytes sampleTable() {
  TableBytes table;
  table.source = "src/net.cpp";
  table.producer = "MemPass 0.1";
  abi::SiteRow plain{};
  plain.id = 0x0123456789abcdef;
  plain.file = table.text("src/net.cpp");
  plain.line = 12;
  plain.column = 7;
  plain.function = table.text("_ZN3net4growEm");
  plain.callee = table.text("malloc");
  plain.type = table.text("float");
  plain.variable = table.text("weights");
  abi::SiteRow inlined = plain;
  inlined.id = 2;
  inlined.line = 3;
  inlined.type = inlined.variable = 0;
  inlined.first_frame = 0;
  inlined.frame_count = 2;
  abi::SiteRow bare{};
  bare.id = 3;
  table.rows = {plain, inlined, bare};
  table.frames = {{table.text("_ZN3net4makeEv"), plain.file, 40, 5}, {table.text("main"), plain.file, 90, 3}};
  return table;
}

} // namespace msleaks::test
