// Tells the runtime where the functions and data of CPython are, if the program is a Python, is linked to one, or loads
// one later. So the runtime can read the calls of Python code (python.h), tell the paths of imports from other paths
// (coarse_calls.h), and sample small objects (runtime/src/python/sampled_objects.h).
#include "core/loaded_image.h"

#include "msleaks/runtime/python.h"

namespace {

using msleaks::runtime::PythonSymbols;

struct Row {
  uint64_t PythonSymbols::*symbol;
  const char *name;
};
// If several rows fill the same field, the last one that the image defines is used.
constexpr Row kRows[] = {{&PythonSymbols::import_module, "PyImport_ImportModuleLevelObject"},
                         {&PythonSymbols::thread_state, "PyGILState_GetThisThreadState"},
                         {&PythonSymbols::is_finalizing, "_Py_IsFinalizing"},
                         {&PythonSymbols::is_finalizing, "Py_IsFinalizing"},
                         {&PythonSymbols::evaluate, "_PyEval_EvalFrameDefault"},
                         {&PythonSymbols::code_type, "PyCode_Type"},
                         {&PythonSymbols::runtime, "_PyRuntime"},
                         {&PythonSymbols::holds_lock, "PyGILState_Check"},
                         {&PythonSymbols::get_allocator, "PyMem_GetAllocator"},
                         {&PythonSymbols::set_allocator, "PyMem_SetAllocator"},
                         {&PythonSymbols::raw_malloc, "PyMem_RawMalloc"},
                         {&PythonSymbols::raw_calloc, "PyMem_RawCalloc"}};

// Whether the image is a Python. If so, sets the symbols.
bool isPython(const dl_phdr_info &object, PythonSymbols &symbols) noexcept {
  using namespace msleaks::hooks;
  const LoadedImage image(object);
  const auto addressOf = [&](const char *name) {
    return reinterpret_cast<uint64_t>(image.definitionOf(SymbolName(name), nullptr));
  };
  const uint64_t version = addressOf("Py_GetVersion");
  if (version == 0)
    return false;
  for (const Row &row : kRows)
    if (const uint64_t address = addressOf(row.name); address != 0)
      symbols.*row.symbol = address;
  symbols.version = reinterpret_cast<const char *(*)()>(version)();
  return true;
}

int visitImage(dl_phdr_info *object, size_t, void *argument) noexcept {
  return isPython(*object, *static_cast<PythonSymbols *>(argument)) ? 1 : 0;
}

void search(dl_phdr_info &object) noexcept {
  PythonSymbols symbols{};
  if (isPython(object, symbols))
    __msl_python_found(symbols);
}

[[gnu::constructor]] void findPython() {
  PythonSymbols symbols{};
  if (::dl_iterate_phdr(visitImage, &symbols) != 0)
    return __msl_python_found(symbols);
  __msl_python_search(search);
}

} // namespace
