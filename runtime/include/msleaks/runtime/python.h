// Tells the runtime where the functions and data of CPython are, so that it can read the calls of Python code.
#pragma once

#include <cstdint>
#include <link.h>

namespace msleaks::runtime {

// The addresses of CPython's symbols in this process. 0 = not found.
struct PythonSymbols {
  uint64_t import_module;     // PyImport_ImportModuleLevelObject
  uint64_t thread_state;      // PyGILState_GetThisThreadState
  uint64_t is_finalizing;     // Py_IsFinalizing, or before Python 3.13 _Py_IsFinalizing
  uint64_t evaluate;          // _PyEval_EvalFrameDefault, the function that evaluates code
  uint64_t code_type;         // PyCode_Type
  uint64_t runtime;           // _PyRuntime
  const char *version;        // "3.11.2 …", as Py_GetVersion returns it
  uint64_t holds_lock = 0;    // PyGILState_Check
  uint64_t get_allocator = 0; // PyMem_GetAllocator
  uint64_t set_allocator = 0; // PyMem_SetAllocator
  uint64_t raw_malloc = 0;    // PyMem_RawMalloc
  uint64_t raw_calloc = 0;    // PyMem_RawCalloc
};

} // namespace msleaks::runtime

extern "C" {
// Call it before the process has other threads, or in __msl_python_search's function. If the runtime does not know how
// this version stores its calls, it writes a note, and paths contain no calls of Python code.
[[gnu::visibility("default"), gnu::cold]] void __msl_python_found(const msleaks::runtime::PythonSymbols &) noexcept;

// Call it if the program has no Python yet. The runtime calls `search` for each image that is new in paths, until
// __msl_python_found is called. The image stays loaded during the call. No lock of the runtime is held.
[[gnu::visibility("default"), gnu::cold]] void
__msl_python_search(void (*search)(dl_phdr_info &image) noexcept) noexcept;

// Whether this code is in a Python without the global lock. Such a Python contains an allocator for its objects.
[[gnu::visibility("default"), gnu::cold]] bool __msl_maps_objects(const void *caller) noexcept;
}
