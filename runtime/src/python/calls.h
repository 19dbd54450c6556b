// Reads the calls of Python code that a thread is in now.
#pragma once

#include "layout.h"

namespace msleaks::runtime::python {

// A call of Python code. CPython uses the addresses of a deleted code object again, often also that of one object that
// the code refers to. So the addresses of three such objects are part of the code's identity. The content is, too, if
// the code runs once: generated code, modules, and cells of a notebook.
struct Call {
  uint64_t code;        // address of the code object
  uint64_t parts;       // a hash of the addresses of its table of lines, its file and its name
  uint64_t instruction; // offset in bytes in the code; a negative number = the code has not begun
  // contentOf() of code that may be deleted, or instanceOf() of a call of a module; 0 = other code, or not computed yet
  uint64_t content;
  uint64_t frame; // valid while the thread is in this call
};

inline constexpr uint32_t kMaxCalls = 1024; // the largest number of calls that are read

// The Python of this process. `layout.minor` is 0 if there is none, or if its calls are not read.
struct Python {
  PythonSymbols symbols;
  Layout layout;
  uint64_t moved_evaluate;  // the part of symbols.evaluate that the compiler has moved away; 0 = none
  bool is_proved;           // the first calls that were read really were calls
  bool are_objects_decided; // whether small objects are sampled was decided (sampled_objects.h)
};
extern Python python;

inline bool isKnown() noexcept { return __atomic_load_n(&python.layout.minor, __ATOMIC_ACQUIRE) != 0; }

// Returns the end of an object's head. The head ends with the pointer to the object's class.
inline uint64_t headEndOf(uint64_t object) noexcept { return object + python.layout.type + sizeof(uint64_t); }

// Returns a function of CPython, to call it.
template <class Function> Function *functionAt(uint64_t address) noexcept {
  return reinterpret_cast<Function *>(address);
}

// Returns the frame of this thread's innermost call. Returns 0 if the thread runs no Python code, or if Python is
// finalizing: then Python frees the states of other threads. This function calls two functions of CPython, which only
// read a few words.
uint64_t innermostFrame() noexcept;

struct CallsRead {
  uint32_t count; // at most kMaxCalls
  bool are_same;  // the calls are the same as the known ones
};
// Reads the calls of this thread, innermost first, into `calls`, and compares them with known ones. A thread's own
// calls do not change during this function, whether the thread holds Python's global lock or not. The innermost
// `inside` known calls have no nodes. The content of these calls is not compared, except that of the innermost call.
CallsRead readCalls(uint64_t innermost_frame, Call *calls, const Call *known, uint32_t known_count,
                    uint32_t inside) noexcept;

// The address of the code object's table of lines.
inline uint64_t linesOf(uint64_t code) noexcept { return valueAt<uint64_t>(code, python.layout.lines); }

// Whether the address is that of a code object.
bool isCode(uint64_t code) noexcept;

// Returns a hash of the file's name, the function's name, and the lines of a code object. It is not 0. The function
// reads only the begin and the end of long data, since it may be called for each allocation.
uint64_t contentOf(const Call &) noexcept;

// The object that a call of a module belongs to. It is the call's first local variable, `self`.
inline uint64_t selfOf(const Call &call) noexcept {
  return valueAt<uint64_t>(call.frame, python.layout.locals) & ~uint64_t{7};
}

// Returns a hash of that object, which no later object at the same address has. isOfModule() is true for it, and false
// for a result of contentOf().
uint64_t instanceOf(const Call &) noexcept;
constexpr bool isOfModule(uint64_t content) noexcept { return content != 0 && (content & 1) == 0; }

// Whether the call is of code at the same addresses, at the same instruction.
inline bool isAtSame(const Call &known, const Call &call) noexcept {
  return known.code == call.code && known.parts == call.parts && known.instruction == call.instruction;
}

// Whether the call is the same as a known one. Sets its content if this matters.
inline bool isSame(const Call &known, Call &call) noexcept {
  if (!isAtSame(known, call))
    return false;
  if (known.content != 0 && call.content == 0)
    call.content = isOfModule(known.content) ? instanceOf(call) : contentOf(call);
  return known.content == call.content;
}

} // namespace msleaks::runtime::python
