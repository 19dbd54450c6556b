// The headers of NVTX and MSTX give a tool tables of pointers to functions. These functions do nothing until the tool
// replaces the pointers.
#pragma once

#include <cstdint>

namespace msleaks::hooks {

using AnyFunction = void (*)();

// The functions of one module, by number. An older header has fewer functions. set() ignores a number that the table
// does not have.
class FunctionTable {
public:
  FunctionTable(AnyFunction **functions, unsigned count) : functions_(functions), count_(count) {}
  template <class Function> void set(unsigned number, Function *function) const {
    if (functions_ != nullptr && number < count_ && functions_[number] != nullptr)
      *functions_[number] = reinterpret_cast<AnyFunction>(function);
  }

private:
  AnyFunction **functions_;
  unsigned count_;
};

} // namespace msleaks::hooks
