// Arming: fabricated units get site numbers, their tables are in the .defs file before a guard opens.
#include "session_fixture.h"

#include "msleaks/runtime/record.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <sys/resource.h>

namespace msleaks::test {
namespace {

// A table with `rows` rows and no strings but the empty one.
std::vector<char> makeTable(uint32_t rows) {
  const uint32_t bytes = static_cast<uint32_t>(sizeof(abi::UnitHeader) + rows * sizeof(abi::SiteRow)) + 8;
  std::vector<char> table(bytes);
  abi::UnitHeader header{};
  header.magic = abi::kUnitMagic;
  header.abi_version = abi::kAbiVersion;
  header.header_bytes = sizeof header;
  header.total_bytes = bytes;
  header.row_count = rows;
  header.row_bytes = sizeof(abi::SiteRow);
  header.frame_bytes = sizeof(abi::FrameRow);
  header.strings_bytes = 8;
  header.checksum =
      abi::fnv1a32(reinterpret_cast<unsigned char *>(table.data()) + sizeof header, bytes - sizeof header);
  std::memcpy(table.data(), &header, sizeof header);
  return table;
}

// In the program's own data, as a real image has them.
std::vector<std::vector<char>> tables;
abi::Unit units[1000];

void fillUnits(std::initializer_list<uint32_t> rows) {
  tables.clear();
  size_t i = 0;
  for (const uint32_t count : rows) {
    tables.push_back(makeTable(count));
    units[i] = {0, abi::kAbiVersion, nullptr};
    ++i;
  }
  for (i = 0; i < tables.size(); ++i)
    units[i].table = reinterpret_cast<const abi::UnitHeader *>(tables[i].data());
}

void fillManyUnits(size_t count) {
  tables.assign(count, makeTable(2));
  for (size_t i = 0; i < count; ++i)
    units[i] = {0, abi::kAbiVersion, reinterpret_cast<const abi::UnitHeader *>(tables[i].data())};
}

struct DefinedUnit {
  uint32_t image, base;
  std::string table;
};

std::vector<DefinedUnit> definedUnits(const ArenaFile &arena) {
  std::vector<DefinedUnit> result;
  for (const Definition &definition : arena.definitions()) {
    if (definition.kind != abi::DefinitionKind::Unit)
      continue;
    abi::UnitDefinition unit;
    std::memcpy(&unit, definition.body.data(), sizeof unit);
    result.push_back({unit.image, unit.base, definition.body.substr(sizeof unit)});
  }
  return result;
}

std::string ofKind(const ArenaFile &arena, abi::DefinitionKind kind) {
  std::string all;
  for (const Definition &definition : arena.definitions())
    if (definition.kind == kind)
      all += definition.body;
  return all;
}

TEST(Arm, UnitsGetNumbersAndDefinitions) {
  const SessionDirectory session;
  fillUnits({3, 1, 5});
  ASSERT_EQ(session.runChild([] {
    __msl_arm(&units[0], &units[3]);
    _exit(units[0].base == 1 && units[1].base == 4 && units[2].base == 5 ? 0 : 1);
  }),
            0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 1u);
  const auto defined = definedUnits(*arenas[0]);
  ASSERT_EQ(defined.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(defined[i].base, (std::array{1u, 4u, 5u})[i]);
    EXPECT_EQ(defined[i].table, std::string(tables[i].begin(), tables[i].end()));
  }
  const auto definitions = arenas[0]->definitions();
  ASSERT_EQ(definitions[0].kind, abi::DefinitionKind::Image);
  abi::ImageDefinition image;
  std::memcpy(&image, definitions[0].body.data(), sizeof image);
  EXPECT_EQ(image.image, defined[0].image);
  EXPECT_LE(image.begin, reinterpret_cast<uint64_t>(&units[0]));
  EXPECT_GT(image.end, reinterpret_cast<uint64_t>(&units[0]));
  EXPECT_EQ(definitions[0].body.substr(sizeof image), std::filesystem::read_symlink("/proc/self/exe").string());
  EXPECT_EQ(image.build_id_bytes, 20u);
}

TEST(Arm, NumbersGoOnAndAnArmedUnitKeepsItsOwn) {
  const SessionDirectory session;
  fillUnits({3, 1, 5});
  ASSERT_EQ(session.runChild([] {
    __msl_arm(&units[0], &units[1]);
    __msl_arm(&units[0], &units[3]);
    _exit(units[0].base == 1 && units[1].base == 4 && units[2].base == 5 ? 0 : 1);
  }),
            0);
  EXPECT_EQ(definedUnits(*session.arenas()[0]).size(), 3u);
}

TEST(Arm, MoreUnitsThanFitIntoOneWrite) {
  const SessionDirectory session;
  fillManyUnits(1000);
  ASSERT_EQ(session.runChild([] { __msl_arm(&units[0], &units[1000]); }), 0);
  const auto defined = definedUnits(*session.arenas()[0]);
  ASSERT_EQ(defined.size(), 1000u);
  for (uint32_t i = 0; i < 1000; ++i)
    ASSERT_EQ(defined[i].base, 1 + 2 * i);
}

TEST(Arm, AUnitOfAnotherVersionStaysUnarmedAndIsNoted) {
  const SessionDirectory session;
  fillUnits({3, 1});
  units[0].abi_version = abi::kAbiVersion + 1;
  ASSERT_EQ(session.runChild([] {
    __msl_arm(&units[0], &units[2]);
    _exit(units[0].base == 0 && units[1].base == 1 ? 0 : 1);
  }),
            0);
  const std::string note = ofKind(*session.arenas()[0], abi::DefinitionKind::Note);
  EXPECT_NE(note.find("runtime_test: instrumented for version 2"), std::string::npos) << note;
  EXPECT_EQ(definedUnits(*session.arenas()[0]).size(), 1u);
}

TEST(Arm, WithoutASessionNothingIsArmed) {
  fillUnits({3});
  const pid_t pid = fork();
  if (pid == 0) {
    unsetenv(abi::kSessionVariable);
    __msl_arm(&units[0], &units[1]);
    __msl_disarm(&units[0], &units[1]);
    _exit(units[0].base == 0 ? 0 : 1);
  }
  EXPECT_EQ(SessionDirectory::waitFor(pid), 0);
}

TEST(Arm, AForkedChildExplainsItsParentsSites) {
  const SessionDirectory session;
  fillUnits({3, 4});
  ASSERT_EQ(session.runChild([] {
    __msl_arm(&units[0], &units[1]);
    __msl_arm(&units[1], &units[2]);
    __msl_disarm(&units[0], &units[1]);
    const pid_t pid = fork();
    if (pid == 0)
      runtime::recordAlloc(abi::Heap::Host, 0, units[1].base, 1, 1);
    else
      _exit(SessionDirectory::waitFor(pid));
  }),
            0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 2u);
  std::multiset<size_t> counts;
  for (const auto &arena : arenas) {
    const auto defined = definedUnits(*arena);
    counts.insert(defined.size());
    EXPECT_EQ(defined.back().base, 4u);
  }
  EXPECT_EQ(counts, (std::multiset<size_t>{1, 2})) << "what was disarmed is not looked at in the child";
}

bool allUnarmed(size_t count) {
  return std::all_of(&units[0], &units[count], [](const abi::Unit &unit) { return unit.base == 0; });
}

TEST(Arm, AFullFileLeavesUnitsUnarmed) {
  for (const size_t count : {1u, 300u}) {
    const SessionDirectory session;
    fillManyUnits(count);
    ASSERT_EQ(session.runChild([count] {
      const rlimit none{0, 0};
      runtime::recordAlloc(abi::Heap::Host, 0, 0, 1, 1); // attached before the limit
      setrlimit(RLIMIT_FSIZE, &none);
      __msl_arm(&units[0], &units[count]);
      _exit(allUnarmed(count) ? 0 : 1);
    }),
              0)
        << count;
    EXPECT_TRUE(session.arenas()[0]->definitions().empty());
    EXPECT_GT(session.arenas()[0]->header().definitions_refused.load(), 0u);
  }
}

// No descriptor is left for the moment: what comes later is defined as ever.
TEST(Arm, AFileThatCannotBeOpenedOnceIsNotGivenUp) {
  const SessionDirectory session;
  fillUnits({3, 1});
  ASSERT_EQ(session.runChild([] {
    runtime::recordAlloc(abi::Heap::Host, 0, 0, 1, 1);
    rlimit usual{};
    getrlimit(RLIMIT_NOFILE, &usual);
    const rlimit none{0, usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    __msl_arm(&units[0], &units[1]);
    setrlimit(RLIMIT_NOFILE, &usual);
    __msl_arm(&units[1], &units[2]);
    _exit(units[0].base == 0 && units[1].base == 1 ? 0 : 1);
  }),
            0);
  const auto arenas = session.arenas();
  EXPECT_EQ(definedUnits(*arenas[0]).size(), 1u);
  EXPECT_EQ(arenas[0]->header().definitions_refused.load(), 2u) << "the unit and its image";
}

} // namespace
} // namespace msleaks::test
