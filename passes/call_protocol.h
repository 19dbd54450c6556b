// Chooses the callbacks of a call and their arguments, from the row of symbols.def and the call's operands.
#pragma once

#include "runtime_decls.h"

#include "msleaks/abi/symbols.h"

namespace msleaks::passes {

// The facts that decide on the callbacks of a call.
struct CallKind {
  const abi::Symbol &symbol;
  bool inner_free; // the caller itself frees blocks of this family, as the program's own operator delete does
};

// Whether the call's result is a status, 0 = success.
bool returnsStatus(const llvm::CallBase &call, const abi::Symbol &symbol);

// Whether the callback before the call opens a record that the callback behind the call, or `cancel`, closes.
bool opensCall(const CallKind &kind);

// Emits the callbacks of one call at the insertion point of a builder. `operands` are the operands to which the row's
// positions refer (pin.h). `call` provides the result, and shows how the call passes a struct.
class CallProtocol {
public:
  CallProtocol(RuntimeDecls &runtime, llvm::CallBase &call, const CallKind &kind,
               llvm::ArrayRef<llvm::Value *> operands)
      : runtime_(runtime), call_(call), kind_(kind), symbol_(kind.symbol), operands_(operands) {}

  void emitBefore(llvm::IRBuilder<> &builder, llvm::Value *site) const;
  // Emits the callbacks that run after the call has returned.
  void emitAfter(llvm::IRBuilder<> &builder, llvm::Value *site) const;
  // Emits the callback before a tail call, in place of emitBefore: no code can run behind a tail call.
  void emitBeforeTailCall(llvm::IRBuilder<> &builder, llvm::Value *site) const;
  // Emits the callback that runs when an exception leaves the call.
  void emitCancel(llvm::IRBuilder<> &builder, llvm::Value *site) const;

private:
  using Values = llvm::SmallVector<llvm::Value *, 8>;

  void emit(llvm::IRBuilder<> &builder, Callback callback, llvm::Value *site, llvm::ArrayRef<llvm::Value *> rest) const;
  void emitBeforeRealloc(llvm::IRBuilder<> &builder, llvm::Value *site) const;
  void emitBeforeLaunch(llvm::IRBuilder<> &builder, llvm::Value *site) const;
  void emitAfterAlloc(llvm::IRBuilder<> &builder, llvm::Value *site) const;
  void emitStatus(llvm::IRBuilder<> &builder, llvm::Value *site, Callback callback, Values rest) const;

  llvm::Value *at(abi::Position position) const;
  llvm::Value *orZero(llvm::IRBuilder<> &builder, abi::Position position) const;
  llvm::Value *orNull(llvm::IRBuilder<> &builder, abi::Position position) const;
  llvm::Value *sizeIn(llvm::IRBuilder<> &builder) const;

  RuntimeDecls &runtime_;
  llvm::CallBase &call_;
  CallKind kind_;
  const abi::Symbol &symbol_;
  llvm::ArrayRef<llvm::Value *> operands_;
};

} // namespace msleaks::passes
