// Where CPython stores the calls of Python code. Each version has its own offsets. From 3.13 on, CPython describes most
// of them itself (_Py_DebugOffsets), for debuggers and profilers.
#pragma once

#include "msleaks/runtime/python.h"

#include <cstdint>

namespace msleaks::runtime::python {

// Offsets in bytes. The names follow CPython's structs.
struct Layout {
  uint32_t minor = 0;       // Python 3.minor; 0 = there is no Python, or its calls are not read
  bool has_no_lock = false; // this Python has no global lock
  // PyThreadState: the innermost frame. 3.11 and 3.12: a pointer to a struct that contains the frame at `c_frame`.
  // `thread_id` is used before 3.12.
  uint16_t thread_frame = 0, thread_id = 0;
  bool has_c_frame = false;
  uint16_t c_frame = 0;
  // A frame: the frame of the caller, the code object, and the current instruction. The instruction is a pointer, or
  // before 3.11 an index. An owner of `first_foreign_owner` or more marks a frame that is not of Python code; 0 = there
  // are no such frames.
  uint16_t previous = 0, code = 0, instruction = 0, owner = 0;
  uint8_t first_foreign_owner = 0;
  // A frame: its first local variable, and its global variables; 0 = variables are not read.
  uint16_t locals = 0, globals = 0;
  // PyCodeObject. `bytecode` is used from 3.11 on.
  uint16_t file = 0, name = 0, first_line = 0, lines = 0, local_names = 0, bytecode = 0;
  // Without the global lock, from 3.14 on, threads run copies of the bytecode. A code object has a pointer to the array
  // of its copies, and a frame has the number of its copy. 0 = there are no copies.
  uint16_t copies = 0, copy_number = 0;
  // PyObject, PyBytesObject, PyASCIIObject, and the characters of a PyCompactUnicodeObject that are not all ASCII.
  // `type` is the last part of each object's head. `dict_before`: how far before an object the pointer to its dict is.
  uint16_t type = 0, dict_before = 0, bytes_size = 0, bytes_data = 0, text_length = 0, text_state = 0, text_data = 0,
           wide_text_data = 0;
};

// Returns the layout of this Python. If it is not known, Layout::minor is 0.
Layout layoutOf(const PythonSymbols &) noexcept;

template <class T> T valueAt(uint64_t object, uint64_t offset) noexcept {
  return *reinterpret_cast<const T *>(object + offset);
}

} // namespace msleaks::runtime::python
