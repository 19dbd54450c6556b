// The data that the pass adds to an object file: a table of sites, and the fields by which the runtime arms the sites.
//
// Each translation unit (a unit) contributes
//
//   section msl_sites, read-only      UnitHeader | SiteRow × rows | FrameRow × frames | strings
//   section msl_units_v2, writable    Unit { base, versions, table }
//
// The table stores no address, only offsets from its own UnitHeader. So its bytes are the same in the object file, in
// the executable and in the trace. The linker puts the tables of an image side by side. Each table starts 8-byte
// aligned and stores its own size. Zero bytes between tables are padding.
//
// An instrumented call goes through a gate of its unit (passes/gate.h). In this example, `7` is the row of the call's
// site in the unit's table:
//
//   call @__msl_gate.malloc(%n, i32 7)
//
//   @__msl_gate.malloc(%n, i32 %row):
//   %base = load atomic i32, ptr @__msl_unit monotonic         ; Unit::base, 0 until armed
//   br (%base != 0), unlikely record
//   record:  call void @__msl_on_alloc(i32 %base + %row, …)
//
// One constructor per image (hidden, linkonce_odr) passes [__start_msl_units_v2, __stop_msl_units_v2) to __msl_arm_v2,
// if the process has this weak function. The matching destructor passes the range to __msl_disarm_v2. Arming gives each
// unit a range of process-local site numbers [base, base + rows). Without a runtime base stays 0, and no gate records.
//
// A compiled object keeps its format, so a runtime meets objects of several formats, also in one image (docs/abi.md).
// The names of sections, constructor and entry points contain a version. Every record stores its own size. A unit
// stores the version of the runtime that it needs.
#pragma once

#include "msleaks/abi/version.h"

#include <cstdint>

namespace msleaks::abi {

inline constexpr char kSitesSection[] = "msl_sites";
inline constexpr char kUnitsSection[] = "msl_units_v2";
inline constexpr uint32_t kUnitMagic = 0x314c534d; // "MSL1"

// Offset into a unit's strings. Offset 0 is the empty string, and means that the text is not known.
using StringOffset = uint32_t;

struct UnitHeader {
  uint32_t magic;        // kUnitMagic
  uint16_t version;      // kObjectVersion of the writer
  uint16_t header_bytes; // sizeof(UnitHeader) of the writer; rows follow
  uint32_t total_bytes;  // size of the whole table, a multiple of 8
  uint32_t row_count;
  uint16_t row_bytes;   // sizeof(SiteRow) of the writer: a newer row may be longer
  uint16_t frame_bytes; // sizeof(FrameRow) of the writer
  uint32_t frame_count;
  uint32_t strings_bytes; // size of the strings, which are NUL-terminated UTF-8
  StringOffset source;    // the translation unit's main file
  StringOffset producer;  // the plugin that wrote the table: "MemPass 0.1 LLVM 22.1.8"
  uint32_t checksum;      // FNV-1a 32 of every byte after this header
  // Headers of kFirstHeaderBytes do not have the following fields. `first_wrapper` and `wrapper_count` are a range of
  // frames that belong to no inline chain. Such a frame is a call in a wrapper such as xmalloc, which passes the block
  // on to its caller. A frame without a line means any call in the function.
  uint32_t first_wrapper, wrapper_count;
  // The next `forward_count` frames are calls of functions in other modules whose result the calling function returns.
  // So the calling function is a wrapper if the called function is a wrapper.
  uint32_t forward_count;
  uint32_t reserved;
};
static_assert(sizeof(UnitHeader) == 56);
inline constexpr uint32_t kFirstHeaderBytes = 40;

enum SiteFlag : uint8_t {
  // No line of the site is the user's own (isSystemPath). Lines in wrappers are not the user's own here. With
  // --call-stack auto, an allocation at this site gets a call path.
  kForeignPlace = 1 << 0,
};

struct SiteRow {
  uint64_t id; // a stable id: hash of file, function, line, column, inline chain, callee and ordinal
  StringOffset file;
  uint32_t line;         // 0 = not known
  uint32_t column;       // 0 = not known
  StringOffset function; // linkage name of the function that the source line is in
  StringOffset callee;   // linkage name, "(indirect)" for a call through a pointer
  StringOffset type;     // element type, as in the source: "float", "struct layer"
  StringOffset variable; // variable that gets the address: "weights", "l.output", "this->blocks_"
  uint32_t first_frame;  // first frame of the inline chain, which shows where the function was inlined, innermost first
  uint16_t frame_count;
  uint8_t verb;   // value of Verb (symbols.h)
  uint8_t family; // value of Family (symbols.h)
  uint8_t heap;   // value of Heap (events.h)
  uint8_t flags;  // SiteFlag bits; 0 in older objects
  uint8_t reserved[10];
};
static_assert(sizeof(SiteRow) == 56);

// One step of an inline chain: at file:line:column, `function` contains the call that was inlined. In the first row of
// a chain, this is the call of the site's function. In any other row, it is the call of the previous row's function.
struct FrameRow {
  StringOffset function;
  StringOffset file;
  uint32_t line;
  uint32_t column;
};
static_assert(sizeof(FrameRow) == 16);

struct Unit {
  uint32_t base;    // first site number in this process; 0 = not armed
  uint16_t version; // kObjectVersion of the writer
  uint16_t needs;   // the first version whose runtime has all callbacks of the unit
  uint16_t bytes;   // sizeof(Unit) of the writer: the next unit begins after these bytes
  uint16_t reserved[3];
  const UnitHeader *table;
};
static_assert(sizeof(Unit) == 24);

// A unit of the first version, in section msl_units, for __msl_arm. It does not store its own size.
struct UnitV1 {
  uint32_t base;
  uint32_t version; // always 1
  const UnitHeader *table;
};
static_assert(sizeof(UnitV1) == 16);

constexpr uint32_t fnv1a32(const unsigned char *bytes, uint64_t count, uint32_t hash = 0x811c9dc5u) {
  for (uint64_t i = 0; i < count; ++i)
    hash = (hash ^ bytes[i]) * 0x01000193u;
  return hash;
}

} // namespace msleaks::abi

// The entry points of the runtime for an image's constructor and destructor. They are weak in the image. Each version
// of the entry points gets units that begin with the same fields. Since __msl_arm_v2, a unit may have more fields after
// them (Unit::bytes).
extern "C" {
[[gnu::visibility("default")]] void __msl_arm_v2(msleaks::abi::Unit *begin, msleaks::abi::Unit *end) noexcept;
[[gnu::visibility("default")]] void __msl_disarm_v2(msleaks::abi::Unit *begin, msleaks::abi::Unit *end) noexcept;
[[gnu::visibility("default")]] void __msl_arm(msleaks::abi::UnitV1 *begin, msleaks::abi::UnitV1 *end) noexcept;
[[gnu::visibility("default")]] void __msl_disarm(msleaks::abi::UnitV1 *begin, msleaks::abi::UnitV1 *end) noexcept;
}
