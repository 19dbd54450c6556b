// The data that the pass puts into an object file: a table of sites, and the few bytes by which a runtime arms it.
//
// Each translation unit (a unit) contributes
//
//   section msl_sites, read-only      UnitHeader | SiteRow × rows | FrameRow × frames | strings
//   section msl_units_v2, writable    Unit { base, versions, table }
//
// The table stores no address, only offsets from its own UnitHeader. So its bytes are the same in the object, in the
// executable, in a stripped copy and in the trace. The linker puts the tables of an image side by side. Each table
// starts 8-byte aligned and stores its own size. Zero bytes between tables are padding.
//
// An instrumented call goes through a gate of its unit; `7` is the row of its site in the table of the unit:
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
// A compiled object never changes its format, so objects of old formats stay in use and every part of the format must
// be extensible. The names of sections, constructor and entry points carry a version. Every record stores its own size,
// and a unit stores the version of the runtime that it needs. Objects of several versions are linked into one image
// side by side (docs/abi.md).
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
  uint32_t total_bytes;  // of the whole table, a multiple of 8
  uint32_t row_count;
  uint16_t row_bytes;   // sizeof(SiteRow) of the writer: a newer one may be longer
  uint16_t frame_bytes; // sizeof(FrameRow) of the writer
  uint32_t frame_count;
  uint32_t strings_bytes; // strings are NUL-terminated UTF-8
  StringOffset source;    // the translation unit's main file
  StringOffset producer;  // "MemPass 0.1 LLVM 22.1.8"
  uint32_t checksum;      // FNV-1a 32 of every byte after this header
  // The first headers do not have these two fields. They count frames that are no step of an inline chain. Such a frame
  // is a call in a wrapper such as xmalloc, which passes the block on to its caller. A frame without a line means any
  // call in the function. The frames come from the optimiser's input, so functions that were inlined everywhere have
  // them, too.
  uint32_t first_wrapper, wrapper_count;
  // Behind these frames there are calls of functions in other modules, whose results the function returns. They count
  // as wrappers if those functions are wrappers.
  uint32_t forward_count;
  uint32_t reserved;
};
static_assert(sizeof(UnitHeader) == 56);
inline constexpr uint32_t kFirstHeaderBytes = 40;

enum SiteFlag : uint8_t {
  // No line of the place is the user's own: all lines are in system headers or wrappers. The event carries the path
  // that led there.
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
  StringOffset variable; // destination: "weights", "l.output", "this->blocks_"
  uint32_t first_frame;  // inline chain: where the function was inlined, innermost first
  uint16_t frame_count;
  uint8_t verb;   // Verb
  uint8_t family; // Family
  uint8_t heap;   // Heap
  uint8_t flags;  // SiteFlag bits; 0 in older objects
  uint8_t reserved[10];
};
static_assert(sizeof(SiteRow) == 56);

// One step of an inline chain: `function` called the function below it at file:line:column.
struct FrameRow {
  StringOffset function;
  StringOffset file;
  uint32_t line;
  uint32_t column;
};
static_assert(sizeof(FrameRow) == 16);

struct Unit {
  uint32_t base;    // first process-local site number; 0 = not armed
  uint16_t version; // kObjectVersion of the writer
  uint16_t needs;   // the first version whose runtime has all callbacks of the unit
  uint16_t bytes;   // sizeof(Unit) of the writer: the next unit follows there
  uint16_t reserved[3];
  const UnitHeader *table;
};
static_assert(sizeof(Unit) == 24);

// A unit of the first version, in section msl_units, for __msl_arm. It does not store its own size.
struct UnitV1 {
  uint32_t base;
  uint32_t version; // 1
  const UnitHeader *table;
};
static_assert(sizeof(UnitV1) == 16);

constexpr uint32_t fnv1a32(const unsigned char *bytes, uint64_t count, uint32_t hash = 0x811c9dc5u) {
  for (uint64_t i = 0; i < count; ++i)
    hash = (hash ^ bytes[i]) * 0x01000193u;
  return hash;
}

} // namespace msleaks::abi

// The entry points of the runtime for an image's constructor and destructor. They are weak in the image. All units of
// one version of the entry points begin with the same fields, and may have more (Unit::bytes).
extern "C" {
[[gnu::visibility("default")]] void __msl_arm_v2(msleaks::abi::Unit *begin, msleaks::abi::Unit *end) noexcept;
[[gnu::visibility("default")]] void __msl_disarm_v2(msleaks::abi::Unit *begin, msleaks::abi::Unit *end) noexcept;
[[gnu::visibility("default")]] void __msl_arm(msleaks::abi::UnitV1 *begin, msleaks::abi::UnitV1 *end) noexcept;
[[gnu::visibility("default")]] void __msl_disarm(msleaks::abi::UnitV1 *begin, msleaks::abi::UnitV1 *end) noexcept;
}
