// Declares the table of all functions that msleaks instruments or hooks (functions/*.def). From this table follow the
// rows that the pass reads (symbols.h), the effects on handles (handle_calls.h), and the hooks (hooks/core/rows.h).
//
// A file functions/*.def has one row for each function:
//
//   MSL_FUNCTION(family, library, result, form, name, parameters, effects…)  its effects say what to record
//   MSL_FUNCTION_WITH(body, family, library, …)   the hook has a body, as for MSL_HOOK_WITH
//   MSL_FUNCTION_NAMED(body, family, library, …)  the same, with body<"name">
//   MSL_KNOWN(family, name, effects…)             the hook is written by hand
//
//   library     as for MSL_HOOK
//   form        ONE: the function has no other form · PTDS, PTSZ, SPT: a function with the ending _ptds, _ptsz or _spt
//               is its form for programs with one default stream per thread · IMPL: a function with the ending Impl
//               does the work, and has a hook of its own · INNER: the driver also has the function with the ending
//               Inner
//   parameters  their types, in parentheses
//   effects     what the call does, by the functions below
//
// The rows of a file are in parts. A file of hooks defines MSL_PART_name for the parts that it wants, and includes the
// file. MSL_PART_ALL selects all parts.
//
// ARG(n) is the parameter n, counted from 0. ARG(-1) is the last parameter. NONE: the function has no such parameter.
#pragma once

#include "msleaks/abi/handle_call.h"
#include "msleaks/abi/symbol.h"

#include <string_view>

namespace msleaks::abi {

// An effect of a call, on memory or on a handle.
struct Effect {
  enum class On : uint8_t { Nothing, Memory, Handle };
  On on = On::Nothing;
  Symbol memory{};
  std::string_view freed_by{}; // the function that frees the block
  HandleCall handle{};
};

struct Function {
  static constexpr unsigned kMostEffects = 3;
  Family family{};
  std::string_view library; // "libOpenCL", or several names separated by "|"; empty: libc, or a compiler's library
  std::string_view name;
  std::string_view form; // name of its other form, which is hooked, too; empty: there is none
  bool form_has_rows = false;
  Effect effects[kMostEffects]{};
};

// The words of the rows.
namespace detail::Words {
using enum Heap;
using enum HandleKind;

constexpr Position ARG(int index) { return Position(index); }
inline constexpr struct {
  constexpr operator Position() const { return {}; }
  constexpr operator Shape() const { return {}; }
} NONE;

// RETURN: the call returns the block or handle, or null if it fails. OUT(n): stores it through parameter n, and returns
// 0 on success. A handle's parameter may be null.
struct Opened {
  HandleResult kind;
  Position at;
};
inline constexpr struct {
  constexpr operator Result() const { return {ResultKind::Return, {}}; }
  constexpr operator Opened() const { return {HandleResult::Return, {}}; }
} RETURN;
struct OUT {
  constexpr explicit OUT(int index) : at(index) {}
  constexpr operator Result() const { return {ResultKind::Out, at}; }
  constexpr operator Opened() const { return {HandleResult::Out, at}; }
  Position at;
};
// Returns the block's handle, and stores a status through parameter n, which may be null.
constexpr Result HANDLE(int index) { return {ResultKind::Handle, Position(index)}; }
// The block is the caller's memory at the address in parameter n. The call returns 0 on success.
constexpr Result AT(int index) { return {ResultKind::At, Position(index)}; }
// Stores two handles through parameter n.
constexpr Opened PAIR(int index) { return {HandleResult::Pair, Position(index)}; }
// Stores handles through parameter n, and their number through parameter n + 1.
constexpr Opened EACH(int index) { return {HandleResult::Each, Position(index)}; }
// Which calls close a handle: only those that succeed, or all.
inline constexpr CloseWhen IF_DONE = CloseWhen::IfDone, ALWAYS = CloseWhen::Always;

// The shape of a launch. Parameters n and n + 1 are the grid and the block, of type dim3.
constexpr Shape DIM3(int index) { return {ShapeKind::Dim3, Position(index)}; }
// From n on: number of dimensions, offset, global size, local size.
constexpr Shape RANGE(int index) { return {ShapeKind::Range, Position(index)}; }
// Parameter n is the number of blocks.
constexpr Shape BLOCKS(int index) { return {ShapeKind::Blocks, Position(index)}; }
// From n on: x, y, z of the grid, then x, y, z of a block.
constexpr Shape SIZES(int index) { return {ShapeKind::Sizes, Position(index)}; }
// As SIZES, but the sizes of the grid count threads.
constexpr Shape THREADS(int index) { return {ShapeKind::Threads, Position(index)}; }
// Parameter n points to an abi::LaunchConfig. Only hooks read it.
constexpr Shape CONFIG(int index) { return {ShapeKind::Config, Position(index)}; }

constexpr Effect onMemory(const Symbol &symbol, std::string_view freed_by = {}) {
  return {.on = Effect::On::Memory, .memory = symbol, .freed_by = freed_by};
}

// Allocates `size * count` bytes, which the function `freed_by` frees.
constexpr Effect ALLOC(Heap heap, int flags, Result result, Position size, Position count, std::string_view freed_by) {
  return onMemory({.verb = Verb::Alloc,
                   .heap = heap,
                   .flags = static_cast<uint16_t>(flags | flagsOf(result.kind)),
                   .result = result,
                   .size = size,
                   .count = count},
                  freed_by);
}
// Frees `old`, and allocates a new block.
constexpr Effect REALLOC(Heap heap, Position old, Position size, Position count, std::string_view freed_by) {
  return onMemory({.verb = Verb::Realloc,
                   .heap = heap,
                   .flags = kRealloc,
                   .result = RETURN,
                   .size = size,
                   .count = count,
                   .address = old},
                  freed_by);
}
// mmap: its flags decide if it allocates memory.
constexpr Effect MAP(Heap heap, Position size, Position protection, Position flags, std::string_view freed_by) {
  return onMemory(
      {.verb = Verb::Map, .heap = heap, .result = RETURN, .size = size, .protection = protection, .mapping = flags},
      freed_by);
}
// mremap: its flags decide if it frees `old`.
constexpr Effect REMAP(Heap heap, Position old, Position old_size, Position size, Position flags,
                       std::string_view freed_by) {
  return onMemory({.verb = Verb::Realloc,
                   .heap = heap,
                   .flags = kRealloc,
                   .result = RETURN,
                   .size = size,
                   .address = old,
                   .old_size = old_size,
                   .mapping = flags},
                  freed_by);
}
constexpr Effect FREE(Heap heap, int flags, Position address, Position size) {
  return onMemory({.verb = Verb::Free,
                   .heap = heap,
                   .flags = static_cast<uint16_t>(flags),
                   .size = size,
                   .address = address,
                   .status = true});
}
// mprotect: pages become memory, or address space without memory.
constexpr Effect PROTECT(Heap heap, Position address, Position size, Position protection) {
  return onMemory({.verb = Verb::Protect,
                   .heap = heap,
                   .size = size,
                   .address = address,
                   .protection = protection,
                   .status = true});
}
// Adds an owner to a counted block.
constexpr Effect RETAIN(Heap heap, Position address) {
  return onMemory({.verb = Verb::Retain, .heap = heap, .address = address});
}
constexpr Effect LAUNCH(Position kernel, Position stream, Shape shape, Position shared) {
  return onMemory({.verb = Verb::Launch,
                   .heap = Device,
                   .kernel = kernel,
                   .stream = stream,
                   .shared = shared,
                   .shape = shape,
                   .status = true});
}
constexpr Effect COPY(int flags, Position destination, Position source, Position size, Position stream,
                      Position direction) {
  return onMemory({.verb = Verb::Copy,
                   .heap = Device,
                   .flags = static_cast<uint16_t>(flags),
                   .size = size,
                   .address = destination,
                   .source = source,
                   .direction = direction,
                   .stream = stream,
                   .status = true});
}
constexpr Effect SET(int flags, Position destination, Position value, Position size, Position stream) {
  return onMemory({.verb = Verb::Set,
                   .heap = Device,
                   .flags = static_cast<uint16_t>(flags),
                   .size = size,
                   .address = destination,
                   .value = value,
                   .stream = stream,
                   .status = true});
}

// The pass does not instrument calls with the next five effects. Only hooks see them.

// Another use of memory. Without positions, any memory may be used.
constexpr Effect ACCESS(Position written, Position read) {
  return onMemory({.verb = Verb::Access, .heap = Device, .address = written, .source = read});
}
// Sets an argument of a kernel: `size` bytes at `value`. Without a size, `value` is the argument.
constexpr Effect ARGUMENT(Position kernel, Position index, Position size, Position value) {
  return onMemory({.verb = Verb::Argument,
                   .heap = Device,
                   .size = size,
                   .value = value,
                   .index = index,
                   .kernel = kernel,
                   .status = true});
}
// Returns a kernel. `copied`: with the arguments of another kernel.
constexpr Effect KERNEL(bool copied) {
  return onMemory({.verb = Verb::Kernel, .heap = Device, .result = RETURN, .copied = copied});
}
// Chooses the device with this ordinal for the thread.
constexpr Effect DEVICE(Position device) {
  return onMemory({.verb = Verb::Device, .heap = Device, .index = device, .status = true});
}
// Maps device addresses to a physical block, from its `offset` on. Without a block: unmaps them. Without an address:
// returns a handle to a part of the block.
constexpr Effect SHOW(Position address, Position size, Position block, Position offset) {
  return onMemory({.verb = Verb::Show,
                   .heap = Device,
                   .size = size,
                   .address = address,
                   .source = block,
                   .value = offset,
                   .status = true});
}

// An effect on memory that the pass does not instrument either.
constexpr Effect ONLY_HOOKS(Effect effect) {
  effect.memory.only_hooks = true;
  return effect;
}

constexpr Effect OPENS(HandleKind kind, Opened opened) {
  return {.on = Effect::On::Handle,
          .handle = {.verb = HandleVerb::Opens, .kind = kind, .result = opened.kind, .at = opened.at}};
}
// Adds an owner to a handle.
constexpr Effect RETAINS(HandleKind kind, Position handle) {
  return {.on = Effect::On::Handle, .handle = {.verb = HandleVerb::Retains, .kind = kind, .at = handle}};
}
// Closes a handle, or removes an owner.
constexpr Effect CLOSES(HandleKind kind, Position handle, CloseWhen when) {
  return {.on = Effect::On::Handle, .handle = {.verb = HandleVerb::Closes, .kind = kind, .at = handle, .when = when}};
}

inline constexpr Function kFunctions[] = {
#define MSL_FORM_ONE(name) "", false
#define MSL_FORM_PTDS(name) name "_ptds", true
#define MSL_FORM_PTSZ(name) name "_ptsz", true
#define MSL_FORM_SPT(name) name "_spt", true
#define MSL_FORM_IMPL(name) name "Impl", false
#define MSL_FORM_INNER(name) "", false
#define MSL_FUNCTION(...) MSL_DESCRIBED(__VA_ARGS__)
#define MSL_DESCRIBED(family, library, result, form, name, parameters, ...)                                            \
  {Family::family, #library, #name, MSL_FORM_##form(#name), {__VA_ARGS__}},
#define MSL_FUNCTION_WITH(body, ...) MSL_FUNCTION(__VA_ARGS__)
#define MSL_FUNCTION_NAMED(body, ...) MSL_FUNCTION(__VA_ARGS__)
#define MSL_KNOWN(family, name, ...) {Family::family, "", #name, "", false, {__VA_ARGS__}},
#define MSL_PART_ALL
// The first file must be libc.def: symbols.h numbers its rows.
#include "msleaks/abi/functions/libc.def"
//
#include "msleaks/abi/functions/acl.def"
#include "msleaks/abi/functions/cuda.def"
#include "msleaks/abi/functions/hip.def"
#include "msleaks/abi/functions/level_zero.def"
#include "msleaks/abi/functions/opencl.def"
#undef MSL_FUNCTION
#undef MSL_DESCRIBED
#undef MSL_FUNCTION_WITH
#undef MSL_FUNCTION_NAMED
#undef MSL_KNOWN
#undef MSL_PART_ALL
#undef MSL_FORM_ONE
#undef MSL_FORM_PTDS
#undef MSL_FORM_PTSZ
#undef MSL_FORM_SPT
#undef MSL_FORM_IMPL
#undef MSL_FORM_INNER
};
} // namespace detail::Words

// All functions with a description.
inline constexpr const auto &kFunctions = detail::Words::kFunctions;

} // namespace msleaks::abi
