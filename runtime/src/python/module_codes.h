// The codes of a thread's calls of PyTorch's modules. Two modules have codes with different numbers, though both run
// the same code object. So their paths have different nodes.
#pragma once

#include "code_table.h"
#include "module_name.h"

namespace msleaks::runtime::python {

class ModuleCodes {
public:
  // Returns the code of `call`, which calls a module. `code` is the code of all such calls, and the result if the
  // module gets no name. `outer` is the module of the next outer such call; 0 = there is none.
  Code of(uint64_t generation, const Code &code, const Call &call, uint64_t outer) noexcept;

private:
  // The modules that the thread has called. A module can have one of kWays entries that follow each other. If none is
  // empty or of the same module, it replaces one of them in turn.
  static constexpr uint32_t kEntries = 4096, kWays = 8;
  struct Entry {
    uint64_t module, version, outer, generation;
    Code code; // its number is 0 if the entry is empty
  };
  Entry &victimAmong(uint32_t first, uint64_t module, uint64_t outer) noexcept;

  Entry entries_[kEntries];
  uint32_t replaced_;
  ModuleSearch search_;
};

} // namespace msleaks::runtime::python
