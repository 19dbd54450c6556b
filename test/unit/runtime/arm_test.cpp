// Tests arming: the runtime gives site numbers to units. (A unit describes the instrumented places of one object file.)
// A unit's table must be in the .defs file before the unit's code may record.
#include "session_fixture.h"

#include "image.h"

#include "msleaks/abi/direct_calls.h"
#include "msleaks/runtime/record.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>
#include <sys/resource.h>

// Stands for the function of the hooks' library.
static uint32_t are_direct_calls_ready = 1;
uint32_t __msl_direct_ready() noexcept { return are_direct_calls_ready; }

namespace msleaks::test {
namespace {

// Returns a table with `rows` rows, whose only string is the empty one.
std::vector<char> makeTable(uint32_t rows) {
  const uint32_t bytes = static_cast<uint32_t>(sizeof(abi::UnitHeader) + rows * sizeof(abi::SiteRow)) + 8;
  std::vector<char> table(bytes);
  abi::UnitHeader header{};
  header.magic = abi::kUnitMagic;
  header.version = abi::kObjectVersion;
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

// The tables and the units are in the program's own data, like those of a real image.
std::vector<std::vector<char>> tables;
alignas(8) char table_bytes[256 << 10];
abi::Unit units[1000];

abi::Unit unitOf(const abi::UnitHeader *table) {
  return {0, abi::kObjectVersion, abi::kObjectVersion, sizeof(abi::Unit), {}, table};
}

// Copies the tables one after another into the image's data, and makes a unit for each table.
void layOut() {
  size_t at = 0, i = 0;
  for (const std::vector<char> &table : tables) {
    ASSERT_LE(at + table.size(), sizeof table_bytes);
    std::memcpy(&table_bytes[at], table.data(), table.size());
    units[i++] = unitOf(reinterpret_cast<const abi::UnitHeader *>(&table_bytes[at]));
    at += table.size();
  }
}

void fillUnits(std::initializer_list<uint32_t> rows) {
  tables.clear();
  for (const uint32_t count : rows)
    tables.push_back(makeTable(count));
  layOut();
}

void fillManyUnits(size_t count) {
  tables.assign(count, makeTable(2));
  layOut();
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

// Opens a library in a folder of libraries and returns its kind, before or after a unit in its data was armed.
runtime::ImageKind kindOfLibrary(const std::filesystem::path &file, bool is_armed_first) {
  std::filesystem::create_directory(file.parent_path());
  std::filesystem::copy_file(MSL_LOADABLE, file);
  void *library = ::dlopen(file.c_str(), RTLD_NOW);
  auto *unit = static_cast<abi::Unit *>(::dlsym(library, "msl_test_data"));
  const std::vector<char> table = makeTable(1);
  *unit = unitOf(reinterpret_cast<abi::UnitHeader *>(std::memcpy(unit + 1, table.data(), table.size())));
  __msl_arm_v2(&units[0], &units[1]); // makes the arena
  runtime::Arena &arena = *__msl_process.arena;
  runtime::ImagePlace place{};
  if (is_armed_first)
    __msl_arm_v2(unit, unit + 1);
  if (!runtime::findImage(unit, place))
    return {};
  const uint32_t image = runtime::numberOf(arena, place);
  if (runtime::kindOf(arena, image) != runtime::ImageKind::Library)
    return runtime::kindOf(arena, image);
  __msl_arm_v2(unit, unit + 1);
  return unit->base != 0 ? runtime::kindOf(arena, image) : runtime::ImageKind::Library;
}

TEST(Arm, MakesALibraryTheUsersOwn) {
  const SessionDirectory session;
  fillUnits({1});
  for (const bool is_armed_first : {false, true})
    EXPECT_EQ(session.runChild([&] {
      const auto file = session.path() / "site-packages" / (is_armed_first ? "first.so" : "later.so");
      _exit(kindOfLibrary(file, is_armed_first) == runtime::ImageKind::Own ? 0 : 1);
    }),
              0)
        << is_armed_first;
}

TEST(Arm, UnitsGetNumbersAndDefinitions) {
  const SessionDirectory session;
  fillUnits({3, 1, 5});
  ASSERT_EQ(session.runChild([] {
    __msl_arm_v2(&units[0], &units[3]);
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
    __msl_arm_v2(&units[0], &units[1]);
    __msl_arm_v2(&units[0], &units[3]);
    _exit(units[0].base == 1 && units[1].base == 4 && units[2].base == 5 ? 0 : 1);
  }),
            0);
  EXPECT_EQ(definedUnits(*session.arenas()[0]).size(), 3u);
}

// The direct entries of the hooks do not test whether the real functions are known. So no unit may call them earlier.
TEST(Arm, NoUnitBeforeDirectCallsAreReady) {
  const SessionDirectory session;
  fillUnits({3, 1, 5});
  ASSERT_EQ(session.runChild([] {
    are_direct_calls_ready = 0;
    __msl_arm_v2(&units[0], &units[1]);
    const bool armed_too_early = units[0].base != 0;
    are_direct_calls_ready = 1;
    __msl_arm_v2(&units[0], &units[3]);
    _exit(!armed_too_early && units[0].base == 1 ? 0 : 1);
  }),
            0);
}

TEST(Arm, MoreUnitsThanFitIntoOneWrite) {
  const SessionDirectory session;
  fillManyUnits(1000);
  ASSERT_EQ(session.runChild([] { __msl_arm_v2(&units[0], &units[1000]); }), 0);
  const auto defined = definedUnits(*session.arenas()[0]);
  ASSERT_EQ(defined.size(), 1000u);
  for (uint32_t i = 0; i < 1000; ++i)
    ASSERT_EQ(defined[i].base, 1 + 2 * i);
}

// Expects that the first unit stays unarmed and the second unit is armed. A note must name the image and the reason.
void expectFirstUnitRefused(const char *why) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    __msl_arm_v2(&units[0], &units[2]);
    _exit(units[0].base == 0 && units[1].base == 1 ? 0 : 1);
  }),
            0)
      << why;
  const std::string note = ofKind(*session.arenas()[0], abi::DefinitionKind::Note);
  EXPECT_NE(note.find("runtime_test: instrumented for version"), std::string::npos) << note;
  EXPECT_NE(note.find(why), std::string::npos) << note;
  EXPECT_EQ(definedUnits(*session.arenas()[0]).size(), 1u);
}

TEST(Arm, AUnitThatNeedsALaterRuntimeStaysUnarmedAndIsNoted) {
  fillUnits({3, 1});
  units[0].version = units[0].needs = abi::kObjectVersion + 1;
  expectFirstUnitRefused("it needs another runtime");
}

TEST(Arm, ALaterUnitThatNeedsNoLaterRuntimeIsArmed) {
  const SessionDirectory session;
  fillUnits({3, 1});
  units[0].version = abi::kObjectVersion + 1;
  ASSERT_EQ(session.runChild([] {
    __msl_arm_v2(&units[0], &units[2]);
    _exit(units[0].base == 1 && units[1].base == 4 ? 0 : 1);
  }),
            0);
}

TEST(Arm, ATableThatIsNoneOrNotWholeStaysUnarmed) {
  fillUnits({3, 1});
  auto &header = *reinterpret_cast<abi::UnitHeader *>(table_bytes);
  header.magic ^= 1;
  expectFirstUnitRefused("of another kind");
  fillUnits({3, 1});
  header.total_bytes = UINT32_MAX;
  expectFirstUnitRefused("cut off");
  fillUnits({3, 1});
  static const std::vector<char> elsewhere = makeTable(3);
  units[0].table = reinterpret_cast<const abi::UnitHeader *>(elsewhere.data());
  expectFirstUnitRefused("outside of it");
}

// Units of a later version may be longer. Each unit contains its own size, so the runtime finds the next unit.
TEST(Arm, UnitsOfSeveralSizesFollowOneAnother) {
  const SessionDirectory session;
  fillUnits({3, 1});
  struct {
    abi::Unit known;
    uint64_t later[2];
    abi::Unit next;
  } static mixed;
  mixed.known = units[0];
  mixed.known.bytes = sizeof(abi::Unit) + sizeof mixed.later;
  mixed.next = units[1];
  ASSERT_EQ(session.runChild([] {
    __msl_arm_v2(&mixed.known, &mixed.next + 1);
    _exit(mixed.known.base == 1 && mixed.next.base == 4 ? 0 : 1);
  }),
            0);
}

TEST(Arm, UnitsOfImpossibleSizesAreNotLookedBehind) {
  for (const uint16_t bytes : {0, 8, 20, 60000}) {
    const SessionDirectory session;
    fillUnits({3, 1});
    units[0].bytes = bytes;
    ASSERT_EQ(session.runChild([] {
      __msl_arm_v2(&units[0], &units[2]);
      _exit(units[0].base == 0 && units[1].base == 0 ? 0 : 1);
    }),
              0)
        << bytes;
  }
}

// An object file of the first version of the interface passes its units to __msl_arm. These units are armed together
// with units of this version.
TEST(Arm, UnitsOfTheFirstVersionAreArmed) {
  const SessionDirectory session;
  fillUnits({3, 1, 2});
  static abi::UnitV1 old[2];
  for (size_t i = 0; i < 2; ++i)
    old[i] = {0, 1, units[i].table};
  ASSERT_EQ(session.runChild([] {
    __msl_arm(&old[0], &old[2]);
    __msl_arm_v2(&units[2], &units[3]);
    _exit(old[0].base == 1 && old[1].base == 4 && units[2].base == 5 ? 0 : 1);
  }),
            0);
  EXPECT_EQ(definedUnits(*session.arenas()[0]).size(), 3u);
}

// A stopped session may be started at any time. So units are armed in a stopped session, too.
TEST(Arm, AStoppedSessionArmsAllTheSame) {
  const SessionDirectory session;
  session.control().enabled = 0;
  fillUnits({3, 1});
  ASSERT_EQ(session.runChild([] {
    __msl_arm_v2(&units[0], &units[2]);
    runtime::recordAlloc(abi::Heap::Host, 0, units[0].base, 1, 1);
    _exit(units[0].base == 1 && units[1].base == 4 ? 0 : 1);
  }),
            0);
  EXPECT_EQ(definedUnits(*session.arenas()[0]).size(), 2u);
  EXPECT_TRUE(session.drain().empty());
}

TEST(Arm, AnImageThatComesBackGetsItsNumbersAgain) {
  const SessionDirectory session;
  fillUnits({3, 1});
  ASSERT_EQ(session.runChild([] {
    for (int i = 0; i < 100; ++i) {
      units[0].base = units[1].base = 0; // as in a newly loaded image
      __msl_arm_v2(&units[0], &units[2]);
      if (units[0].base != 1 || units[1].base != 4)
        _exit(1);
      __msl_disarm_v2(&units[0], &units[2]);
    }
    const_cast<abi::UnitHeader *>(units[1].table)->checksum ^= 1; // a table of another build
    units[0].base = units[1].base = 0;
    __msl_arm_v2(&units[0], &units[2]);
    _exit(units[0].base == 5 && units[1].base == 8 ? 0 : 2);
  }),
            0);
  EXPECT_EQ(definedUnits(*session.arenas()[0]).size(), 4u);
}

TEST(Arm, AnImageThatFindsNoCollectorIsArmedWhenThereIsOne) {
  const SessionDirectory session({.ring_kib = 16, .ring_max_kib = 16});
  session.loseCollectorAndRoom();
  fillUnits({3, 1});
  ASSERT_EQ(session.runChild([&] {
    __msl_arm_v2(&units[0], &units[2]);
    const bool unarmed = units[0].base == 0;
    session.findCollector();
    runtime::recordAlloc(abi::Heap::Host, 0, 0, 1, 1);
    _exit(unarmed && units[0].base == 1 && units[1].base == 4 ? 0 : 1);
  }),
            0);
  EXPECT_EQ(definedUnits(*session.arenas()[0]).size(), 2u);
}

TEST(Arm, WithoutASessionNothingIsArmed) {
  fillUnits({3});
  const pid_t pid = fork();
  if (pid == 0) {
    unsetenv(abi::kSessionVariable);
    __msl_arm_v2(&units[0], &units[1]);
    __msl_disarm_v2(&units[0], &units[1]);
    _exit(units[0].base == 0 ? 0 : 1);
  }
  EXPECT_EQ(SessionDirectory::waitFor(pid), 0);
}

TEST(Arm, AForkedChildSaysWhoseDefinitionsItInherits) {
  const SessionDirectory session;
  fillUnits({3, 4});
  ASSERT_EQ(session.runChild([] {
    __msl_arm_v2(&units[0], &units[1]);
    __msl_arm_v2(&units[1], &units[2]);
    __msl_disarm_v2(&units[0], &units[1]);
    const pid_t pid = fork();
    if (pid == 0)
      runtime::recordAlloc(abi::Heap::Host, 0, units[1].base, 1, 1);
    else
      _exit(SessionDirectory::waitFor(pid));
  }),
            0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 2u);
  const bool first_is_parent = arenas[1]->header().parent_pid == arenas[0]->header().pid;
  const ArenaFile &parent = *arenas[first_is_parent ? 0 : 1], &child = *arenas[first_is_parent ? 1 : 0];
  EXPECT_EQ(definedUnits(parent).size(), 2u);
  EXPECT_TRUE(definedUnits(child).empty()) << "no table is told twice";
  EXPECT_EQ(child.header().ancestor_pid, parent.header().pid);
  EXPECT_EQ(child.header().ancestor_attach_ns, parent.header().attach_ns);
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
      runtime::recordAlloc(abi::Heap::Host, 0, 0, 1, 1); // attaches the process before the limit is set
      setrlimit(RLIMIT_FSIZE, &none);
      __msl_arm_v2(&units[0], &units[count]);
      _exit(allUnarmed(count) ? 0 : 1);
    }),
              0)
        << count;
    EXPECT_TRUE(session.arenas()[0]->definitions().empty());
    EXPECT_GT(session.arenas()[0]->header().definitions_refused.load(), 0u);
  }
}

// For a moment no descriptor is free, so the runtime cannot define a unit. Units that are armed later must be defined
// as usual.
TEST(Arm, AFileThatCannotBeOpenedOnceIsNotGivenUp) {
  const SessionDirectory session;
  fillUnits({3, 1});
  ASSERT_EQ(session.runChild([] {
    runtime::recordAlloc(abi::Heap::Host, 0, 0, 1, 1);
    rlimit usual{};
    getrlimit(RLIMIT_NOFILE, &usual);
    const rlimit none{0, usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    __msl_arm_v2(&units[0], &units[1]);
    setrlimit(RLIMIT_NOFILE, &usual);
    __msl_arm_v2(&units[1], &units[2]);
    _exit(units[0].base == 0 && units[1].base == 1 ? 0 : 1);
  }),
            0);
  const auto arenas = session.arenas();
  EXPECT_EQ(definedUnits(*arenas[0]).size(), 1u);
  EXPECT_EQ(arenas[0]->header().definitions_refused.load(), 2u) << "the unit and its image";
}

} // namespace
} // namespace msleaks::test
