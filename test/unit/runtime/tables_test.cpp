// Tests look-ups in damaged unwind tables of an image. No byte outside the tables may be read, and every rule must fit
// into its packed form.
#include "unwind/tables.h"

#include "loaded_object.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace msleaks::test {
namespace {

using namespace runtime::unwind;

// A copy of this program's tables, which a test can damage. The tables contain distances to functions. So the addresses
// for look-ups are shifted by the distance between the tables and the copy.
class TablesCopy {
public:
  TablesCopy() {
    runtime::LoadedObject object;
    const auto here = reinterpret_cast<uint64_t>(&findRule);
    if (!runtime::findLoadedObject(here, object))
      return;
    const auto *begin = reinterpret_cast<const uint8_t *>(object.eh_frame_header);
    for (unsigned i = 0; i < object.header_count; ++i) {
      const ElfW(Phdr) &header = object.headers[i];
      const uint64_t segment = object.load_bias + header.p_vaddr;
      if (header.p_type == PT_LOAD && object.eh_frame_header - segment < header.p_memsz)
        original_.assign(begin, reinterpret_cast<const uint8_t *>(segment + header.p_memsz));
      if (header.p_type == PT_LOAD && here - segment < header.p_memsz)
        code_ = {segment, segment + header.p_memsz};
    }
    bytes_ = original_;
  }

  std::vector<uint8_t> &bytes() { return bytes_; }
  const std::vector<uint8_t> &original() const { return original_; }

  // Returns how many of `addresses` random addresses have a rule. `bytes` has exactly the size that may be read, so
  // that AddressSanitizer detects any read beyond it.
  unsigned lookUp(const std::vector<uint8_t> &bytes, unsigned addresses) {
    const auto begin = reinterpret_cast<uint64_t>(bytes.data());
    const Tables tables{begin, begin + bytes.size(), begin};
    unsigned known = 0;
    for (unsigned i = 0; i < addresses; ++i) {
      const uint64_t address = code_.begin + random() % (code_.end - code_.begin);
      const Rule rule = findRule(tables, address - headerOfProgram() + begin);
      EXPECT_EQ(unpacked(packed(rule)), rule);
      known += rule.kind == RuleKind::Plain;
    }
    return known;
  }

  // Looks up `addresses` ascending addresses, each after the last one. Returns how many have another rule than alone.
  unsigned differences(unsigned addresses) {
    const auto begin = reinterpret_cast<uint64_t>(bytes_.data());
    const Tables tables{begin, begin + bytes_.size(), begin};
    uint64_t address = code_.begin + random() % (code_.end - code_.begin);
    unsigned different = 0;
    Run last;
    for (unsigned i = 0; i < addresses; ++i, address += random() % 32) {
      const uint64_t shifted = address - headerOfProgram() + begin;
      different += findRuleAfter(last, tables, shifted) != findRule(tables, shifted);
      if (random() % 16 == 0)
        address -= random() % 256;
    }
    return different;
  }

  uint32_t random() { return (state_ = state_ * 1664525 + 1013904223) >> 4; }

private:
  static uint64_t headerOfProgram() {
    runtime::LoadedObject object;
    runtime::findLoadedObject(reinterpret_cast<uint64_t>(&findRule), object);
    return object.eh_frame_header;
  }

  struct {
    uint64_t begin = 0, end = 1;
  } code_;
  std::vector<uint8_t> original_, bytes_;
  uint32_t state_ = 1;
};

} // namespace

TEST(Tables, CutAnywhereAreReadNoFurther) {
  TablesCopy tables;
  ASSERT_GT(tables.lookUp(tables.original(), 200), 100u);
  for (size_t bytes = 0; bytes < 64; ++bytes)
    tables.lookUp({tables.original().begin(), tables.original().begin() + static_cast<ptrdiff_t>(bytes)}, 5);
  for (int i = 0; i < 500; ++i) {
    const auto end = static_cast<ptrdiff_t>(tables.random() % tables.original().size());
    tables.lookUp({tables.original().begin(), tables.original().begin() + end}, 100);
  }
}

TEST(Tables, GiveTheSameRulesAfterEachOther) {
  TablesCopy tables;
  for (unsigned walk = 0; walk < 1000; ++walk)
    ASSERT_EQ(tables.differences(100), 0u);
}

TEST(Tables, WithBytesThatAreNotTheirsAreReadNoFurther) {
  TablesCopy tables;
  std::vector<uint8_t> &bytes = tables.bytes();
  for (int round = 0; round < 3000; ++round) {
    for (unsigned i = tables.random() % 2000; i-- > 0;)
      bytes[tables.random() % bytes.size()] = static_cast<uint8_t>(tables.random());
    if (round % 3 == 0)
      bytes[tables.random() % 12] ^= static_cast<uint8_t>(1u << tables.random() % 8);
    tables.lookUp(bytes, 50);
    if (round % 10 == 9)
      bytes = tables.original();
  }
}

} // namespace msleaks::test
