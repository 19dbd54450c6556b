// The parts that a gate (gate.h) takes over from the calls that it serves.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/CallingConv.h"

#include <tuple>

namespace llvm {
class CallBase;
class Constant;
class FunctionType;
class Value;
} // namespace llvm

namespace msleaks::passes {

// Why a call cannot be made through a gate, or null.
const char *gateObstacle(const llvm::CallBase &call);

// Calls of equal shape share a gate.
struct GateShape {
  llvm::Value *callee;
  llvm::FunctionType *call_type; // type of the call: a callee with `...` gets the arguments of this one
  llvm::FunctionType *type;      // type of the gate: the arguments, the row, and the operands of a pinned call
  llvm::AttributeList attributes;
  llvm::CallingConv::ID convention;
  llvm::Constant *personality; // null: nothing can be thrown, or the module catches nothing
  unsigned arguments;          // of the call; the row comes behind them

  // `pinned` are the operands that the gate needs beside the arguments.
  GateShape(const llvm::CallBase &call, llvm::ArrayRef<llvm::Value *> pinned);

  auto key() const {
    return std::tuple(callee, call_type, type, attributes.getRawPointer(), convention, personality, arguments);
  }
};

// The attributes of a call that now calls its gate. Those that say how values are passed stay. Those that describe the
// callee or its effects on memory go.
llvm::AttributeList attributesForGate(const llvm::CallBase &call);

} // namespace msleaks::passes
