// Finds the names of PyTorch's modules.
#pragma once

#include "msleaks/abi/definitions.h"

#include <cstdint>
#include <string_view>

namespace msleaks::runtime::python {

// Finds the path from one module to another in the dicts `_modules`, which contain the modules inside a module. Each of
// them may be a list, whose own modules the outer module calls.
class ModuleSearch {
public:
  // Returns a name as abi::PythonModuleDefinition describes it. `outer` is the module of the next outer call of a
  // module; 0 = there is none. The text is valid until the next call.
  std::string_view nameOf(uint64_t outer, uint64_t module) noexcept;

private:
  static constexpr uint32_t kMostSearched = 48, kNone = UINT32_MAX;
  struct Found {
    uint64_t module, key; // the key in the dict of the module that contains it
    uint32_t inside;      // the index of that module
  };
  bool isDirectlyIn(uint32_t index, uint64_t module, uint64_t &key) noexcept;
  std::string_view pathTo(uint32_t index, uint64_t key) noexcept;
  void prepend(uint64_t key) noexcept;

  uint32_t count_;
  Found found_[kMostSearched]; // the outer module, then the modules in it, then those in them, …
  uint32_t begin_;             // of the name in text_
  char text_[abi::kMaxPythonModuleBytes];
};

} // namespace msleaks::runtime::python
