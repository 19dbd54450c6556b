// What the headers of NVTX and MSTX hand to a tool: tables of pointers to functions that do nothing until somebody
// fills them in.
#pragma once

#include <cstdint>

namespace msleaks::hooks {

using AnyFunction = void (*)();

// Functions of one module, by number. An older header has fewer than we know.
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
