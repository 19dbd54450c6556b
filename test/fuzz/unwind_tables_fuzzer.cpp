// Fuzzes the reader of unwind tables: it reads only within the tables, and the program of each function ends.
#include "unwind/tables.h"

#include <cstring>
#include <vector>

using namespace msleaks::runtime::unwind;

// Three quarters of the inputs get a header with one function. So the input itself is the record of this function, and
// the data that the record refers to.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  struct Header {
    uint8_t version = 1, frame_encoding = 0x1b, count_encoding = 0x03, table_encoding = 0x3b;
    int32_t frame = 0;
    uint32_t count = 1;
    int32_t function = 0, record = sizeof(Header);
  };
  // The memory is exactly as large as the readable bytes, so that AddressSanitizer finds a read past the end.
  std::vector<uint8_t> mapped(sizeof(Header) + size);
  const bool own_header = size > 0 && bytes[0] % 4 == 0;
  const Header header;
  std::memcpy(mapped.data(), &header, sizeof header);
  if (size > 0)
    std::memcpy(mapped.data() + (own_header ? 0 : sizeof header), bytes, size);
  const auto begin = reinterpret_cast<uint64_t>(mapped.data());
  const Tables tables{begin, begin + mapped.size(), begin};
  for (const uint64_t offset : {0u, 1u, 16u, 255u, 4096u})
    if (const Rule rule = findRule(tables, begin + offset); unpacked(packed(rule)) != rule)
      __builtin_trap();
  return 0;
}
