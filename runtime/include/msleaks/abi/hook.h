// The interface between a library with hooks and the runtime. Other projects build such libraries with their own copy
// of this header. kHookVersion is the version of the interface. The hooks of a library with another version record
// nothing, and the report names that library.
//
// All functions of the runtime that a hook library calls are weak symbols. So the library links against no library of
// msleaks, and can be loaded without a runtime.
#pragma once

#include <cstdint>

namespace msleaks::hook {

inline constexpr uint32_t kHookVersion = 1;

// A hooked function. Later versions append fields to this struct.
struct Function {
  const char *library; // start of the library's file name ("libOpenCL"), or several starts ("libacl_rt|libascendcl")
  const char *name;
  void *hook; // null: the library with hooks calls the function but does not hook it
  void *real; // the real function, if it is the same for all callers; null: it differs, or was not found yet
};

// The hooks of one shared library.
struct Library {
  uint32_t version;
  uint32_t function_bytes; // sizeof(Function) in the library
  Function *begin, *end;
  Library *next;
  uint32_t state;     // value of State
  uint32_t abilities; // bits of Ability; 0 in a library that was built before Ability existed
};
enum State : uint32_t { kUnknown, kAccepted, kRefused };
enum Ability : uint32_t {
  kAsksForCallers = 1 // the hooks call __msl_hook_real at each call while Function::real is null
};

// A hooked call that has not returned yet. The hook sets `traits`, `caller` and `address`. The runtime sets the other
// fields.
struct Call {
  uint32_t traits;  // traits of the function's row, or kOwnWork
  uint32_t answer;  // value of Answer
  uint64_t caller;  // return address of the call
  uint64_t address; // the block, the kernel or the destination of the call; 0 = none
  uint32_t site;
  uint32_t kept; // for the runtime only
};
// The value of Call::traits for the hook's own work. Between __msl_hook_begin and __msl_hook_end of a call with this
// value, the runtime records nothing of the thread.
inline constexpr uint32_t kOwnWork = UINT32_MAX;
enum Answer : uint32_t {
  kPass,      // do not record: the call is inside a call of its family or in an allocator, or recording is off
  kAnnounced, // a callback has recorded the call, or will record it
  kRecord
};

// The functions by which the runtime calls a driver. With them, the runtime reads the content of watched blocks
// (docs/watch.md), the names of kernels, and the driver's own number of bytes in use. While a thread runs such a
// function, calls of the family that this thread makes are not recorded. A function that the driver does not have is
// null. Without `wait` or `read`, the runtime reads no block of the driver. The result 0 means success.
struct Device {
  uint32_t bytes; // sizeof(Device); later versions append fields
  uint32_t family;
  // Waits until all work that was submitted to this stream or queue so far is done.
  int32_t (*wait)(const void *stream);
  // Copies bytes of a block into memory of the host, after all work that was submitted to the stream so far.
  int32_t (*read)(const void *stream, const void *block, uint64_t offset, uint64_t bytes, void *to);
  // Stores the kernel's name in `text`, ended by NUL and cut off at `bytes`.
  int32_t (*name)(const void *kernel, char *text, uint64_t bytes);
  // Stores the free and the total bytes of the thread's current device.
  int32_t (*memory)(uint64_t *free, uint64_t *total);
  // Runs once, after the process' first allocation in the family. Writes a note for each library whose version the
  // hooks do not know.
  void (*checkVersions)();
  // Stores the bytes in use of the thread's current device, as the management library (NVML) counts them.
  int32_t (*managed)(uint64_t *used);
};

// A tensor that an operation outputs. The option --watch can name it (docs/watch.md).
struct Output {
  uint32_t bytes;  // sizeof(Output); later versions append fields
  uint32_t number; // number among the operation's outputs, from 0
  const void *address;
  uint64_t size_bytes;
  const char *type;    // type of the elements as safetensors names it: "F32"; null: not known
  uint64_t dimensions; // number of extents, at most kMostDimensions
  const int64_t *extents;
};
inline constexpr uint64_t kMostDimensions = 8;

// A change of a block whose address a graph has reserved.
enum class InGraph : uint32_t { GivesMemoryBack, GetsMemory, Ends };

// An owner of blocks that a hook passes to __msl_hook_owner. The text must stay valid until the process ends.
struct Owner {
  const char *text;
  uint32_t label; // the text's label, which the runtime sets; 0 = not set yet
};

} // namespace msleaks::hook

extern "C" {
// Registers the library and sets its state. libmsleaks_hooks.so defines this function, __msl_hook_real and
// __msl_hook_find.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_register(msleaks::hook::Library *library) noexcept;
// Returns the real function for a call from this address: the function that the image at this address would call if
// there were no hook. If `caller` is null, a hook itself makes the call. In that case the result is the function in the
// library that the thread's last hooked call went to. If only one library has the function, it is that function. If
// there is no such function, the result is null, and the hook makes the call fail. If the runtime already knows the
// caller's page of code, __msl_hook_real takes no lock and allocates nothing.
[[gnu::weak, gnu::visibility("default")]] void *__msl_hook_real(msleaks::hook::Function *function,
                                                                const void *caller) noexcept;
// Returns a real function that does not depend on the caller. A hook library calls it if the library or the runtime is
// older than __msl_hook_real.
[[gnu::weak, gnu::visibility("default")]] void *__msl_hook_find(const msleaks::hook::Function *function) noexcept;
// Decides whether the call is recorded (Call::answer), and sets the call's site.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_enter(msleaks::hook::Call *call) noexcept;
// Sets the device (its ordinal) for the thread's next calls of the family in `traits`. Returns the previous device.
[[gnu::weak, gnu::visibility("default")]] uint32_t __msl_hook_device(uint32_t traits, uint32_t device) noexcept;
// Registers the functions of a driver. Call this before the first call of the driver's family. `device` must not change
// as long as the process lives.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_driver(const msleaks::hook::Device *device) noexcept;
// Records the name of the kernel with this handle. Call this if the API passes the name to the call that creates the
// kernel.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_kernel(uint32_t traits, const void *kernel,
                                                                 const char *name) noexcept;
// Sets the owner of the block, and whether the block has uses that no hook sees. Call this in a hook that allocates,
// between __msl_before and the real function.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_owner(uint32_t traits, msleaks::hook::Owner *owner,
                                                                uint32_t is_used_unseen) noexcept;
// Adds event flags to the block's event. Call this where __msl_hook_owner may be called.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_flags(uint32_t traits, uint32_t flags) noexcept;
// Records that the driver has ended all blocks of the thread's device. Call this after the real function.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_reset(uint32_t traits, uint64_t caller) noexcept;
// Records that a block whose address a graph has reserved gets memory, gives it back, or ends (msleaks::hook::InGraph).
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_in_graph(uint32_t traits, uint64_t caller, uint64_t address,
                                                                   uint64_t bytes, uint32_t what) noexcept;
// Reports one output of an operation. Call this for each output, just before the operation's range ends.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_output(const msleaks::hook::Output *output) noexcept;
// These two functions mark the beginning and the end of a call of the real function. Between them, the runtime records
// no calls of the same family.
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_begin(msleaks::hook::Call *call) noexcept;
[[gnu::weak, gnu::visibility("default")]] void __msl_hook_end(msleaks::hook::Call *call) noexcept;

#define MSL_CALLBACK(name, doc, ...) [[gnu::weak, gnu::visibility("default")]] void __msl_##name(__VA_ARGS__) noexcept;
#include "msleaks/abi/callbacks.def"
}
