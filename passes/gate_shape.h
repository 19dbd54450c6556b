// Collects the properties that a gate (gate.h) shares with the calls that go through it: types, attributes and calling
// convention.
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

// Returns the reason why a call cannot go through a gate, or null.
const char *gateObstacle(const llvm::CallBase &call);

// Calls of equal shape share a gate.
struct GateShape {
  llvm::Value *callee;
  llvm::FunctionType *call_type; // type of the call: a variadic callee gets exactly these arguments
  llvm::FunctionType *type;      // type of the gate: the arguments, the row, and the operands of a pinned call
  llvm::AttributeList attributes;
  llvm::CallingConv::ID convention;
  llvm::Constant *personality; // null: the gate catches no exceptions
  unsigned arguments;          // number of the call's arguments; the row follows them

  // `pinned` are the operands that a pinned call (pin.h) passes to its gate behind the row.
  GateShape(const llvm::CallBase &call, llvm::ArrayRef<llvm::Value *> pinned);

  auto key() const {
    return std::tuple(callee, call_type, type, attributes.getRawPointer(), convention, personality, arguments);
  }
};

// Returns the attributes for a call that now calls its gate. Removes the attributes that are true of the original
// callee, but not of the gate.
llvm::AttributeList attributesForGate(const llvm::CallBase &call);

} // namespace msleaks::passes
