// What a library with hooks and the runtime have in common. A hook library is built by others, against the headers of
// their day: the version names this page, and one that does not fit is left inert and named in the report.
//
// Everything that it calls is weak: it links against nothing, and loads where there is no runtime.
#pragma once

#include <cstdint>

namespace msleaks::hook {

inline constexpr uint32_t kHookVersion = 1;

// A hooked function. What is appended in a later version stands behind.
struct Function {
  const char *library; // the beginning of its file's name: "libOpenCL"; or several: "libacl_rt|libascendcl"
  const char *name;
  void *hook; // null: it is only asked
  void *real; // of all callers; null until it is found, and again when a library was unloaded, or if there are several
};

// The hooks of one shared library.
struct Library {
  uint32_t version;
  uint32_t function_bytes; // sizeof(Function)
  Function *begin, *end;
  Library *next;
  uint32_t state;     // State
  uint32_t abilities; // bits of Ability; 0 in a library that was built before there were any
};
enum State : uint32_t { kUnknown, kAccepted, kRefused };
enum Ability : uint32_t {
  kAsksForCallers = 1 // its hooks ask __msl_hook_real at each call while Function::real is null
};

// A call under way: filled by the runtime, but for the first three.
struct Call {
  uint32_t traits;  // of the row, or kOwnWork
  uint32_t answer;  // Answer
  uint64_t caller;  // return address
  uint64_t address; // what a callback before the call named: block, kernel, destination; 0 = none
  uint32_t site;
  uint32_t kept; // the runtime's own
};
// Between __msl_hook_begin and _end of such a call, nothing that the thread does is the program's.
inline constexpr uint32_t kOwnWork = UINT32_MAX;
enum Answer : uint32_t {
  kPass,      // not recorded: inside a call of the same family, or recording is off
  kAnnounced, // a callback has recorded it, or will
  kRecord
};

// What a driver is asked: by a watch (docs/watch.md) for content, and for its own number of bytes in use. Called with
// calls of the family left out. A function that there is not is null; 0 = done.
struct Device {
  uint32_t bytes; // sizeof(Device); what is appended in a later version stands behind
  uint32_t family;
  // Until all is done that this stream or queue has been given so far.
  int32_t (*wait)(const void *stream);
  // Copies bytes of a block into memory of the host, behind what the stream has been given so far.
  int32_t (*read)(const void *stream, const void *block, uint64_t offset, uint64_t bytes, void *to);
  // The kernel's name, ended by NUL and cut off at `bytes`.
  int32_t (*name)(const void *kernel, char *text, uint64_t bytes);
  // Of the device that the thread has chosen, in bytes: what nobody uses, and all.
  int32_t (*memory)(uint64_t *free, uint64_t *total);
  // Once, behind the process' first block of the family: says by notes which versions the hooks do not know.
  void (*checkVersions)();
  // Of the same device, bytes in use as the library counts them that manages the machine's devices (NVML).
  int32_t (*managed)(uint64_t *used);
};

// A tensor that an operation gives out: --watch may name it (docs/watch.md).
struct Output {
  uint32_t bytes;  // sizeof(Output); what is appended in a later version stands behind
  uint32_t number; // of the operation's, from 0
  const void *address;
  uint64_t size_bytes;
  const char *type;    // of its elements, as safetensors calls it: "F32"; null: not known
  uint64_t dimensions; // at most kMostDimensions
  const int64_t *extents;
};
inline constexpr uint64_t kMostDimensions = 8;

// One of the few owners that a hook knows. The text stays as long as the process.
struct Owner {
  const char *text;
  uint32_t label; // the runtime's own: 0 until it has one
};

} // namespace msleaks::hook

extern "C" {
// Lists the library and sets its state. Defined by libmsleaks_hooks.so, as are __msl_hook_real and __msl_hook_find.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_register(msleaks::hook::Library *library) noexcept;
// The real function for a call from this address: what the image there would call without the hook. `caller` null: the
// hooks ask for themselves, in the library that the thread's last hooked call went to. Null: there is none, and a call
// fails. Takes no lock and allocates nothing where the caller's page of code is known.
[[gnu::weak, gnu::visibility("default")]] void *__msl_hook_real(msleaks::hook::Function *function,
                                                                const void *caller) noexcept;
// The same for whoever calls, of libraries of hooks that are older than __msl_hook_real.
[[gnu::weak, gnu::visibility("default")]] void *__msl_hook_find(const msleaks::hook::Function *function) noexcept;
// Whether to record the call, and its site.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_enter(msleaks::hook::Call *call) noexcept;
// The device that the thread's calls of the row's family are about from now on, by ordinal. Returns the one before.
[[gnu::weak, gnu::visibility("default")]] uint32_t __msl_hook_device(uint32_t traits, uint32_t device) noexcept;
// Before the first call of the family. `device` stays what it is as long as the process lives.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_driver(const msleaks::hook::Device *device) noexcept;
// The kernel that has this handle from here on has this name: of an API that says it when it makes the kernel.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_kernel(uint32_t traits, const void *kernel,
                                                                 const char *name) noexcept;
// Within a call of the row's family that allocates, before the real function: the owner of the block, and whether it
// has uses that no hook sees.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_owner(uint32_t traits, msleaks::hook::Owner *owner,
                                                                uint32_t is_used_unseen) noexcept;
// At the same place: flags of the block beyond those of its row.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_flags(uint32_t traits, uint32_t flags) noexcept;
// At the end of an operation, within its range: one of its outputs.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_output(const msleaks::hook::Output *output) noexcept;
// Around the real function: calls of its family are left out meanwhile.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_begin(msleaks::hook::Call *call) noexcept;
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_end(msleaks::hook::Call *call) noexcept;

#define MSL_CALLBACK(name, doc, ...) [[gnu::weak, gnu::visibility("default")]] void __msl_##name(__VA_ARGS__) noexcept;
#include "msleaks/abi/callbacks.def"
}
