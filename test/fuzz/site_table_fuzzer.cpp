// Fuzzes the readers of site tables and definition records. The first byte chooses whether the bytes stay unchanged, or
// get a correct magic number, size and checksum. With these, the fuzzer also tests the offsets in the table.
#include "analysis/places/site_catalog.h"
#include "analysis/places/site_table.h"

#include "msleaks/abi/site_table.h"

#include <cstring>
#include <string>
#include <vector>

namespace msleaks {
namespace {

void repairTable(std::vector<std::byte> &bytes) {
  abi::UnitHeader header;
  if (bytes.size() < sizeof header)
    return;
  bytes.resize(bytes.size() & ~size_t{7});
  std::memcpy(&header, bytes.data(), sizeof header);
  header.magic = abi::kUnitMagic;
  header.version = abi::kObjectVersion;
  header.total_bytes = static_cast<uint32_t>(bytes.size());
  header.header_bytes = sizeof header;
  header.row_bytes = sizeof(abi::SiteRow);
  header.frame_bytes = sizeof(abi::FrameRow);
  header.row_count %= 16;
  header.frame_count %= 8;
  header.first_wrapper %= 8;
  header.wrapper_count %= 8;
  header.forward_count %= 8;
  const uint64_t parts =
      sizeof header + header.row_count * sizeof(abi::SiteRow) + header.frame_count * sizeof(abi::FrameRow);
  header.strings_bytes = bytes.size() > parts ? static_cast<uint32_t>(bytes.size() - parts) : 0;
  const auto *content = reinterpret_cast<const unsigned char *>(bytes.data()) + sizeof header;
  header.checksum = abi::fnv1a32(content, bytes.size() - sizeof header);
  std::memcpy(bytes.data(), &header, sizeof header);
}

// Returns a Unit record that contains the table, as the runtime writes it.
std::vector<std::byte> unitRecord(const std::vector<std::byte> &table) {
  const abi::UnitDefinition unit{1, 1};
  std::vector<std::byte> body(sizeof unit);
  std::memcpy(body.data(), &unit, sizeof unit);
  body.insert(body.end(), table.begin(), table.end());
  const abi::DefinitionHeader header{abi::kDefinitionMagic, abi::DefinitionKind::Unit,
                                     static_cast<uint32_t>(body.size()),
                                     abi::fnv1a32(reinterpret_cast<const unsigned char *>(body.data()), body.size())};
  std::vector<std::byte> record(sizeof header);
  std::memcpy(record.data(), &header, sizeof header);
  record.insert(record.end(), body.begin(), body.end());
  return record;
}

// Reads every character of a site's texts, so that AddressSanitizer finds a text outside of its table.
size_t lengthOf(const analysis::Site &site) {
  size_t sum = 0;
  const auto read = [&](std::string_view text) {
    for (const char byte : text)
      sum += byte != 0;
  };
  for (const auto text : {site.file, site.function, site.callee, site.type, site.variable})
    read(text);
  for (const auto &frame : site.inlined_at) {
    read(frame.function);
    read(frame.file);
  }
  return sum;
}

} // namespace
} // namespace msleaks

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace msleaks;
  if (size == 0)
    return 0;
  const auto *first = reinterpret_cast<const std::byte *>(data);
  std::vector<std::byte> bytes(first + 1, first + size);
  if (data[0] & 1)
    repairTable(bytes);

  volatile size_t sum = 0;
  if (const auto tables = analysis::readSiteTables(bytes))
    for (const auto &table : *tables)
      for (const auto &site : table.sites())
        sum = sum + lengthOf(site);

  analysis::Symbolizer symbolizer;
  analysis::SiteCatalog catalog(symbolizer);
  catalog.addDefinitions(1, bytes);
  catalog.addDefinitions(2, unitRecord(bytes));
  for (uint32_t number = 0; number < 40; ++number)
    sum = sum + lengthOf(catalog.describe(catalog.find(2, number)));
  return 0;
}
