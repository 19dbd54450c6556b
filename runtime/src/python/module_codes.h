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
  // The modules that the thread has called. A new module replaces an old one that has the same entry.
  static constexpr uint32_t kEntries = 4096;
  struct Entry {
    uint64_t module, version, outer, generation; // a number of 0 = empty
    Code code;
  };
  Entry entries_[kEntries];
  ModuleSearch search_;
};

} // namespace msleaks::runtime::python
