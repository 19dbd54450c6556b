// The interface between msleaks and a user's analyzer (docs/analyzers.md). The analyzer is a shared object that was
// built with some version of this header. C++ authors use msleaks/analyzer.h, which hides this header. Only authors who
// use, for example, another language need it.
//
// Only pointers to plain structs are passed. A struct that contains its own size may get new members at its end. So may
// Block and Event, which msleaks makes. One thread makes all calls. Texts are UTF-8 and end with a zero. A text from
// msleaks is never null. To msleaks, null means the empty text.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msleaks::analyzer {

// msleaks accepts a library of this or an earlier version, and refuses a library of a later version.
inline constexpr uint32_t kAnalyzerVersion = 1;
inline constexpr char kPluginSymbol[] = "__msl_analyzer";

struct Block {
  uint64_t address;
  uint64_t size;    // as the caller asked for
  uint64_t bytes;   // the bytes that it adds to its heap: 0 for reserved addresses and pages of files
  uint64_t born_ns; // CLOCK_MONOTONIC
  uint32_t id;      // number of a live block, from 1; numbers of dead blocks are given again, so numbers are dense
  uint32_t group;   // all blocks with the same site, thread, heap, device, owner and phase; from 1, dense
  uint32_t site;    // a place in code and the calls that led there; 0 = not known
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
  Remainder,   // the rest of a block after a munmap or mprotect of a part
  WasThere     // alive at the start of the report's window
};
enum class Death : uint32_t {
  Freed,
  Reallocated, // the old block of a realloc
  Replaced,    // its address was allocated again: its free was not seen
  Remainder,   // a part was unmapped; the rest is born next
  ProcessExited,
  ProcessKilled,
  ProcessExec,
  StillAlive // the run ends before the process does
};
enum class Confidence : uint32_t { Proved, Likely, Hint };
enum class Unit : uint32_t { Text, Place, Count, Bytes, TimeNs };

// An event of a kind that the analyzer needs. The fields are those in events.def, in the same order.
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

// A site, as a report shows it.
struct Place {
  uint32_t number; // the same for all sites of the place
  uint32_t own;    // 1: in the user's own code
  uint32_t line, column;
  const char *file, *function, *variable, *type, *library;
};

// Blocks of a group, as a part of a finding.
struct Share {
  uint32_t group, reserved;
  uint64_t bytes, count;
};
// Bytes that a fix would remove from this time on.
struct Absent {
  uint64_t from_ns;
  uint32_t group, reserved;
  int64_t bytes; // negative: ends an earlier removal of these bytes
};

enum class ValueKind : uint32_t { None, Number, Real, Text, Site };
struct Value {
  ValueKind kind;
  uint32_t reserved;
  union {
    uint64_t number; // also the number of a site
    double real;
    const char *text;
  };
};
struct EvidenceView {
  const char *name;
  Value value; // not a site
};
struct FindingView {
  uint32_t bytes; // size of this struct
  Confidence confidence;
  const char *kind, *advice;
  const Share *shares; // of one heap and device, at least one
  uint64_t share_count;
  const EvidenceView *evidence;
  uint64_t evidence_count;
  const Absent *absent; // what a fix would remove; if empty, it does not lower the peak
  uint64_t absent_count;
  uint32_t all_absent; // 1: a fix removes all blocks that the groups ever had
  uint32_t reserved;
};
struct ColumnView {
  const char *name;
  Unit unit;
  uint32_t reserved;
};
struct TableView {
  uint32_t bytes, reserved; // `bytes` is the size of this struct
  const char *name, *title;
  const ColumnView *columns;
  uint64_t column_count;
  const Value *cells; // row by row
  uint64_t row_count;
};

// The functions that conclude() may call. Pointers that they return are valid until conclude() returns.
struct Host {
  uint32_t bytes, version;
  void *self; // the first argument of each function
  const Place *(*place)(void *self, uint32_t site);
  const char *(*process)(void *self, uint32_t process); // "pid 4711 (train)"
  const char *(*thread)(void *self, uint32_t process, uint32_t thread);
  const char *(*label)(void *self, uint32_t process, uint64_t number); // names of marks, ranges and owners in events
  uint32_t (*siteOf)(void *self, uint32_t group);
  // Return null, or why the finding or table is refused.
  const char *(*addFinding)(void *self, const FindingView *);
  const char *(*addTable)(void *self, const TableView *);
};

// The symbol of the shared object. A function that may fail returns null, or a text that says why it failed. The text
// must be valid until the next call. After a failure msleaks calls only `destroy`, and the report contains none of the
// results. The functions after `destroy` may be null.
struct Plugin {
  uint32_t version; // kAnalyzerVersion in its header
  uint32_t bytes;   // size of this struct
  const char *name; // letters, digits, `_` and `-`
  const char *(*make)(void **self);
  void (*destroy)(void *self);
  uint32_t (*eventKinds)(void *self); // kinds of events for onEvent: bit n for the kind with number n
  const char *(*onAlloc)(void *self, const Block *, Birth, uint64_t time_ns);
  const char *(*onFree)(void *self, const Block *, Death, uint64_t time_ns);
  // Since its birth, the block has belonged to another place than onAlloc said.
  const char *(*onRetarget)(void *self, const Block *now, const Block *before, uint64_t time_ns);
  const char *(*onEvent)(void *self, const Event *);
  // Called after the deaths of the process' blocks. exit_status is as a shell reports it; -1 = not known.
  const char *(*onProcessEnd)(void *self, uint32_t process, Death, int32_t exit_status, uint64_t time_ns);
  const char *(*conclude)(void *self, const Host *);
};

} // namespace msleaks::analyzer
