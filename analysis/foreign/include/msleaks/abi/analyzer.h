// What msleaks and an analyzer of somebody's own have in common (docs/analyzers.md). The analyzer is a shared object,
// built by others against the header of their day: the version names this page. Write one with msleaks/analyzer.h,
// which hides it; this page is for whoever does without that, as in another language.
//
// Only plain structs cross, by address. A struct that says how many bytes it has may get more behind the last one, and
// so may Block and Event, which msleaks makes. Everything is called by one thread; texts are UTF-8, end with a zero,
// and are never null where msleaks gives them; null is the empty text where it takes them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msleaks::analyzer {

// A library of this or an earlier version is taken, one of a later version is refused.
inline constexpr uint32_t kAnalyzerVersion = 1;
inline constexpr char kPluginSymbol[] = "__msl_analyzer";

struct Block {
  uint64_t address;
  uint64_t size;    // as the caller asked for it
  uint64_t bytes;   // that it adds to its heap: 0 for address space and pages of files
  uint64_t born_ns; // CLOCK_MONOTONIC
  uint32_t id;      // of a live block, from 1; given again when it is dead, so these stay dense
  uint32_t group;   // blocks that agree in site, thread, heap, device, owner and phase; from 1, dense
  uint32_t site;    // a place in code with the calls that led there; 0 = not known
  uint32_t process; // number within the run
  uint32_t thread;  // number within the process
  uint8_t heap;     // heaps.def
  uint8_t device;
  uint16_t reserved;
};

enum class Birth : uint32_t {
  Allocated,
  Reallocated, // the new block of a realloc
  Restored,    // a realloc failed: the old block is alive again
  Remainder,   // the rest of a block after munmap or mprotect of a part
  WasThere     // alive when the window of the report begins
};
enum class Death : uint32_t {
  Freed,
  Reallocated, // the old block of a realloc
  Replaced,    // its address was handed out again: its free was not seen
  Remainder,   // a part went; what is left is born next
  ProcessExited,
  ProcessKilled,
  ProcessExec,
  StillAlive // the run ends before the process does
};
enum class Confidence : uint32_t { Proved, Likely, Hint };
enum class Unit : uint32_t { Text, Place, Count, Bytes, TimeNs };

// An event of a kind that the analyzer has asked for. Fields are those of events.def, in its order.
struct Event {
  uint64_t time_ns;
  const uint64_t *fields;
  uint32_t field_count;
  uint32_t process, thread, site;
  uint16_t flags; // event_flags.def
  uint8_t kind;   // events.def
  uint8_t heap, device;
  uint8_t reserved[3];
};

// A site as a report shows it.
struct Place {
  uint32_t number; // the same for all sites of the place
  uint32_t own;    // 1: in the user's own code
  uint32_t line, column;
  const char *file, *function, *variable, *type, *library;
};

// Blocks of a group that a finding is about.
struct Share {
  uint32_t group, reserved;
  uint64_t bytes, count;
};
// Bytes that would not be there from this time on.
struct Absent {
  uint64_t from_ns;
  uint32_t group, reserved;
  int64_t bytes; // negative: from here on they would not have been there anyway
};

enum class ValueKind : uint32_t { None, Number, Real, Text, Site };
struct Value {
  ValueKind kind;
  uint32_t reserved;
  union {
    uint64_t number; // also of a site
    double real;
    const char *text;
  };
};
struct EvidenceView {
  const char *name;
  Value value; // no site
};
struct FindingView {
  uint32_t bytes; // of this struct
  Confidence confidence;
  const char *kind, *advice;
  const Share *shares; // of one heap and device, at least one
  uint64_t share_count;
  const EvidenceView *evidence;
  uint64_t evidence_count;
  const Absent *absent; // what its fix would take away; none: it saves nothing of the peak
  uint64_t absent_count;
  uint32_t all_absent; // 1: all that the groups of the shares ever had
  uint32_t reserved;
};
struct ColumnView {
  const char *name;
  Unit unit;
  uint32_t reserved;
};
struct TableView {
  uint32_t bytes, reserved; // of this struct
  const char *name, *title;
  const ColumnView *columns;
  uint64_t column_count;
  const Value *cells; // row by row
  uint64_t row_count;
};

// The host's functions for conclude(). Pointers that they return are good until conclude() returns.
struct Host {
  uint32_t bytes, version;
  void *self; // the first argument of each function
  const Place *(*place)(void *self, uint32_t site);
  const char *(*process)(void *self, uint32_t process); // "pid 4711 (train)"
  const char *(*thread)(void *self, uint32_t process, uint32_t thread);
  const char *(*label)(void *self, uint32_t process, uint64_t number); // of marks, ranges, owners in events
  uint32_t (*siteOf)(void *self, uint32_t group);
  // Null, or why it is refused.
  const char *(*addFinding)(void *self, const FindingView *);
  const char *(*addTable)(void *self, const TableView *);
};

// The symbol of the shared object. Where a function may fail it returns null, or why it has, as a text that is good
// until the next call. What has failed is not called again, and nothing of it comes into the report. Functions behind
// `make` and `destroy` may be null.
struct Plugin {
  uint32_t version; // kAnalyzerVersion of its header
  uint32_t bytes;   // of this struct
  const char *name; // letters, digits, `_` and `-`
  const char *(*make)(void **self);
  void (*destroy)(void *self);
  uint32_t (*eventKinds)(void *self); // which onEvent wants: bit n for the kind with number n
  const char *(*onAlloc)(void *self, const Block *, Birth, uint64_t time_ns);
  const char *(*onFree)(void *self, const Block *, Death, uint64_t time_ns);
  // The block belongs to another place than was said at its birth, and did so from then on.
  const char *(*onRetarget)(void *self, const Block *now, const Block *before, uint64_t time_ns);
  const char *(*onEvent)(void *self, const Event *);
  // Behind the deaths of its blocks. exit_status: as a shell reports it; -1 = not known.
  const char *(*onProcessEnd)(void *self, uint32_t process, Death, int32_t exit_status, uint64_t time_ns);
  const char *(*conclude)(void *self, const Host *);
};

} // namespace msleaks::analyzer
