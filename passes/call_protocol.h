// Chooses the callbacks of an instrumented call, and their arguments, from the callee's row. A callback
// is a function of the runtime that records an event.
#pragma once

#include "runtime_decls.h"

#include "msleaks/abi/symbol.h"

namespace msleaks::passes {

struct CallKind {
  const abi::Symbol &symbol;
  bool inner_free; // a free inside a function that frees the same family, such as the program's own operator delete
};

// Whether the call returns a status, where 0 means success.
bool returnsStatus(const llvm::CallBase &call, const abi::Symbol &symbol);

// Whether the callback before the call stores the call's site for a hook, and this site must be removed if an exception
// leaves the call.
bool opensCall(const CallKind &kind);

// Emits the callbacks of one call at the insertion point of a builder. `operands` are the call's operands as the source
// wrote them. In a pinned call, the optimiser may have changed the arguments (pin.h).
class CallProtocol {
public:
  CallProtocol(RuntimeDecls &runtime, llvm::CallBase &call, const CallKind &kind,
               llvm::ArrayRef<llvm::Value *> operands)
      : runtime_(runtime), call_(call), kind_(kind), symbol_(kind.symbol), operands_(operands) {}

  void emitBefore(llvm::IRBuilder<> &builder, llvm::Value *site) const;
  // Emits the callbacks that run after the call has returned.
  void emitAfter(llvm::IRBuilder<> &builder, llvm::Value *site) const;
  // For a tail call, instead of emitBefore and emitAfter: no code of the caller runs after a tail call.
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
