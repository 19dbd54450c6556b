// Derives the type of a function in IR from its C prototype.
#pragma once

#include "llvm/IR/DerivedTypes.h"

#include <type_traits>

namespace msleaks::passes {

template <typename T> llvm::Type *irType(llvm::LLVMContext &context) {
  if constexpr (std::is_void_v<T>)
    return llvm::Type::getVoidTy(context);
  else if constexpr (std::is_pointer_v<T>)
    return llvm::PointerType::get(context, 0);
  else {
    static_assert(std::is_integral_v<T>, "a prototype has only integers and pointers");
    return llvm::Type::getIntNTy(context, sizeof(T) * 8);
  }
}

template <typename Result, typename... Parameters>
llvm::FunctionType *irSignature(llvm::LLVMContext &context, std::type_identity<Result (*)(Parameters...)>) {
  return llvm::FunctionType::get(irType<Result>(context), {irType<Parameters>(context)...}, /*isVarArg=*/false);
}

template <typename Result, typename... Parameters>
llvm::FunctionType *irSignature(llvm::LLVMContext &context, std::type_identity<Result (*)(Parameters...) noexcept>) {
  return irSignature(context, std::type_identity<Result (*)(Parameters...)>{});
}

// Returns the IR type of a C function whose parameters are pointers and integers of 32 or 64 bits.
template <typename Function> llvm::FunctionType *signatureOf(llvm::LLVMContext &context) {
  return irSignature(context, std::type_identity<Function>{});
}

} // namespace msleaks::passes
