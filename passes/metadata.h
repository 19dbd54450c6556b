// Converts numbers, texts and places to and from operands of metadata nodes.
#pragma once

#include "source_place.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Type.h"

namespace msleaks::passes {

inline llvm::Metadata *number(llvm::LLVMContext &context, uint32_t value) {
  return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value));
}

inline std::string textAt(const llvm::MDNode &node, unsigned at) {
  return llvm::cast<llvm::MDString>(node.getOperand(at))->getString().str();
}

inline uint32_t numberAt(const llvm::MDNode &node, unsigned at) {
  return static_cast<uint32_t>(llvm::mdconst::extract<llvm::ConstantInt>(node.getOperand(at))->getZExtValue());
}

// Reads four operands, from `at` on: function, file, line, column.
inline SourcePlace placeAt(const llvm::MDNode &node, unsigned at) {
  return {textAt(node, at), textAt(node, at + 1), numberAt(node, at + 2), numberAt(node, at + 3)};
}

} // namespace msleaks::passes
