#include "launch_shape.h"

#include <optional>

using namespace llvm;

namespace msleaks::passes {
namespace {

using abi::ShapeKind;

constexpr uint64_t kOneRow = uint64_t{1} << 32; // y = 1
constexpr uint64_t kDim3ZOffset = 8;

// A dim3 { unsigned x, y, z } by value is lowered to one of
//
//   i64 %xy, i32 %z             x86-64, in registers
//   [2 x i64] %xyz              aarch64
//   ptr byval(%struct.dim3)     on the stack
//
// Reads one such dim3 from operand `at` on, and moves `at` behind its last operand.
std::optional<Dimensions> takeDim3(IRBuilder<> &builder, const CallBase &call, unsigned &at) {
  if (at >= call.arg_size())
    return std::nullopt;
  Value *first = call.getArgOperand(at);
  Type *type = first->getType();
  if (call.isByValArgument(at)) {
    ++at;
    Value *z = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), first, kDim3ZOffset);
    return Dimensions{builder.CreateAlignedLoad(builder.getInt64Ty(), first, Align(4)),
                      builder.CreateAlignedLoad(builder.getInt32Ty(), z, Align(4))};
  }
  if (type == ArrayType::get(builder.getInt64Ty(), 2)) {
    ++at;
    Value *z = builder.CreateTrunc(builder.CreateExtractValue(first, 1), builder.getInt32Ty());
    return Dimensions{builder.CreateExtractValue(first, 0), z};
  }
  if (type->isIntegerTy(64) && at + 1 < call.arg_size() && call.getArgOperand(at + 1)->getType()->isIntegerTy(32)) {
    at += 2;
    return Dimensions{first, call.getArgOperand(at - 1)};
  }
  return std::nullopt;
}

LaunchDimensions emitDim3(IRBuilder<> &builder, const CallBase &call, unsigned at) {
  const Dimensions unknown = {builder.getInt64(0), builder.getInt32(0)};
  const auto grid = takeDim3(builder, call, at);
  const auto block = grid ? takeDim3(builder, call, at) : std::nullopt;
  return block ? LaunchDimensions{*grid, *block} : LaunchDimensions{unknown, unknown};
}

// Makes a grid of n × 1 × 1 from the number n of thread blocks. The shape of the thread blocks is not known.
LaunchDimensions emitBlocks(IRBuilder<> &builder, Value *blocks) {
  Value *x = builder.CreateZExt(builder.CreateZExtOrTrunc(blocks, builder.getInt32Ty()), builder.getInt64Ty());
  return {{builder.CreateOr(x, kOneRow), builder.getInt32(1)}, {builder.getInt64(0), builder.getInt32(0)}};
}

// Reads three integers. The first one is at `first operand of the shape + index`.
Dimensions takeSizes(IRBuilder<> &builder, const CallBase &call, const abi::Shape &shape, int index) {
  const auto size = [&](int axis, Type *type) {
    return builder.CreateZExtOrTrunc(rangeOperand(call, shape, index + axis), type);
  };
  Value *y = builder.CreateShl(size(1, builder.getInt64Ty()), 32);
  return {builder.CreateOr(size(0, builder.getInt64Ty()), y), size(2, builder.getInt32Ty())};
}

// Emits code that does the same as abi::blocksOf: it computes the number of thread blocks.
Value *emitBlockCount(IRBuilder<> &builder, Value *all, Value *block) {
  Type *wide = builder.getInt64Ty();
  Value *none = builder.CreateICmpEQ(block, builder.getInt32(0));
  Value *threads = builder.CreateZExt(builder.CreateSelect(none, builder.getInt32(1), block), wide);
  Value *up = builder.CreateAdd(builder.CreateZExt(all, wide), builder.CreateSub(threads, builder.getInt64(1)));
  return builder.CreateSelect(none, builder.getInt64(0), builder.CreateUDiv(up, threads));
}

// Reads six integers: the threads of the whole grid by axis, then the threads of a block.
LaunchDimensions emitThreads(IRBuilder<> &builder, const CallBase &call, const abi::Shape &shape) {
  const auto size = [&](int index) {
    return builder.CreateZExtOrTrunc(rangeOperand(call, shape, index), builder.getInt32Ty());
  };
  Value *blocks[3];
  for (int axis = 0; axis < 3; ++axis)
    blocks[axis] = emitBlockCount(builder, size(axis), size(3 + axis));
  return {{builder.CreateOr(blocks[0], builder.CreateShl(blocks[1], 32)),
           builder.CreateTrunc(blocks[2], builder.getInt32Ty())},
          takeSizes(builder, call, shape, 3)};
}

} // namespace

Value *rangeOperand(const CallBase &call, const abi::Shape &shape, int index) {
  const int first = shape.at.resolve(static_cast<int>(call.arg_size()));
  const unsigned at = static_cast<unsigned>(first + index);
  return first >= 0 && at < call.arg_size() ? call.getArgOperand(at) : nullptr;
}

bool shapeFits(const CallBase &call, const abi::Symbol &symbol) {
  const Value *first = rangeOperand(call, symbol.shape, 0);
  switch (symbol.shape.kind) {
  case ShapeKind::None:
  case ShapeKind::Config:
    return true;
  case ShapeKind::Dim3:
    return first;
  case ShapeKind::Blocks:
    return first && first->getType()->isIntegerTy();
  case ShapeKind::Sizes:
  case ShapeKind::Threads:
    for (int i = 0; i < 6; ++i)
      if (const Value *size = rangeOperand(call, symbol.shape, i); !size || !size->getType()->isIntegerTy())
        return false;
    return true;
  case ShapeKind::Range: {
    const Value *local = rangeOperand(call, symbol.shape, 3);
    return local && first->getType()->isIntegerTy() && local->getType()->isPointerTy() &&
           rangeOperand(call, symbol.shape, 2)->getType()->isPointerTy();
  }
  }
  return false;
}

LaunchDimensions emitDimensions(IRBuilder<> &builder, const CallBase &call, const abi::Shape &shape) {
  switch (shape.kind) {
  case ShapeKind::Dim3:
    return emitDim3(builder, call, static_cast<unsigned>(shape.at.resolve(static_cast<int>(call.arg_size()))));
  case ShapeKind::Sizes:
    return {takeSizes(builder, call, shape, 0), takeSizes(builder, call, shape, 3)};
  case ShapeKind::Threads:
    return emitThreads(builder, call, shape);
  case ShapeKind::Blocks:
    return emitBlocks(builder, rangeOperand(call, shape, 0));
  default:
    return {{builder.getInt64(0), builder.getInt32(0)}, {builder.getInt64(0), builder.getInt32(0)}};
  }
}

} // namespace msleaks::passes
