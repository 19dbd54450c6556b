#include "call_protocol.h"

#include "launch_shape.h"

using namespace llvm;

namespace msleaks::passes {

using abi::ResultKind;
using abi::Verb;

namespace {

Value *number(IRBuilder<> &builder, Value *word) {
  return word->getType()->isPointerTy() ? builder.CreatePtrToInt(word, builder.getInt64Ty())
                                        : builder.CreateZExt(word, builder.getInt64Ty());
}

// Stores the value in a new local variable, and returns the variable's address.
Value *inMemory(IRBuilder<> &builder, Value *value) {
  BasicBlock &entry = builder.GetInsertBlock()->getParent()->getEntryBlock();
  AllocaInst *place = IRBuilder<>(&entry, entry.begin()).CreateAlloca(value->getType());
  builder.CreateStore(value, place);
  return place;
}

// Whether the callee is a launch stub (known_symbols.h).
bool isStub(const abi::Symbol &symbol) { return symbol.verb == Verb::Launch && !symbol.kernel.present(); }

} // namespace

bool returnsStatus(const CallBase &call, const abi::Symbol &symbol) {
  return symbol.status && call.getType()->isIntegerTy() && call.getType()->getIntegerBitWidth() <= 64;
}

bool opensCall(const CallKind &kind) {
  switch (kind.symbol.verb) {
  case Verb::Alloc:
  case Verb::Wrap:
  case Verb::Realloc:
  case Verb::Map:
  case Verb::Protect:
    return true;
  default:
    return isStub(kind.symbol);
  }
}

Value *CallProtocol::at(abi::Position position) const {
  const int index = position.resolve(static_cast<int>(operands_.size()));
  return index < 0 ? nullptr : operands_[static_cast<unsigned>(index)];
}

Value *CallProtocol::orZero(IRBuilder<> &builder, abi::Position position) const {
  Value *value = at(position);
  return value ? value : builder.getInt64(0);
}

Value *CallProtocol::orNull(IRBuilder<> &builder, abi::Position position) const {
  Value *value = at(position);
  return value ? value : ConstantPointerNull::get(builder.getPtrTy());
}

// Emits size * count. If the product overflows, the result is the largest number.
Value *CallProtocol::sizeIn(IRBuilder<> &builder) const {
  Value *size = number(builder, orZero(builder, symbol_.size)), *count = at(symbol_.count);
  if (!count)
    return size;
  Value *product = builder.CreateBinaryIntrinsic(Intrinsic::umul_with_overflow, size, number(builder, count));
  return builder.CreateSelect(builder.CreateExtractValue(product, 1), builder.getInt64(~uint64_t{0}),
                              builder.CreateExtractValue(product, 0));
}

void CallProtocol::emit(IRBuilder<> &builder, Callback callback, Value *site, ArrayRef<Value *> rest) const {
  const abi::Traits traits{symbol_.verb, symbol_.family, symbol_.heap, symbol_.flags};
  Values arguments = {site, builder.getInt32(traits.packed())};
  arguments.append(rest.begin(), rest.end());
  runtime_.call(builder, callback, arguments);
}

void CallProtocol::emitCancel(IRBuilder<> &builder, Value *site) const {
  runtime_.call(builder, Callback::cancel, {site});
}

void CallProtocol::emitBeforeTailCall(IRBuilder<> &builder, Value *site) const {
  // After a tail call, no code of this function runs, so no callback can record the call then. Instead, `announce`
  // stores the site before the call, and only a hook can record the call.
  if (opensCall(kind_))
    emit(builder, Callback::announce, site, {});
  else
    emitBefore(builder, site);
}

void CallProtocol::emitBefore(IRBuilder<> &builder, Value *site) const {
  switch (symbol_.verb) {
  case Verb::Alloc:
  case Verb::Wrap:
  case Verb::Map:
  case Verb::Protect:
    return emit(builder, Callback::before, site, {});
  case Verb::Realloc:
    return emitBeforeRealloc(builder, site);
  case Verb::Free:
    return emit(builder, kind_.inner_free ? Callback::on_inner_free : Callback::on_free, site,
                {at(symbol_.address), sizeIn(builder)});
  case Verb::Retain:
    return emit(builder, Callback::on_retain, site, {at(symbol_.address)});
  case Verb::Launch:
    return emitBeforeLaunch(builder, site);
  case Verb::Copy:
    return emit(builder, Callback::on_copy, site,
                {at(symbol_.address), at(symbol_.source), at(symbol_.size), orNull(builder, symbol_.stream),
                 orZero(builder, symbol_.direction)});
  case Verb::Set:
    return emit(
        builder, Callback::on_set, site,
        {at(symbol_.address), orZero(builder, symbol_.value), at(symbol_.size), orNull(builder, symbol_.stream)});
  case Verb::Argument:
  case Verb::Kernel:
  case Verb::Access:
  case Verb::Device:
  case Verb::Handle:
  case Verb::Show:
    return; // only hooks record these verbs
  }
}

void CallProtocol::emitBeforeRealloc(IRBuilder<> &builder, Value *site) const {
  if (symbol_.mapping.present())
    emit(builder, Callback::on_remap, site,
         {at(symbol_.address), at(symbol_.old_size), sizeIn(builder), at(symbol_.mapping)});
  else
    emit(builder, Callback::on_free, site, {at(symbol_.address), builder.getInt64(0)});
}

void CallProtocol::emitBeforeLaunch(IRBuilder<> &builder, Value *site) const {
  if (isStub(symbol_))
    return emit(builder, Callback::announce, site, {});
  Value *kernel = at(symbol_.kernel), *stream = orNull(builder, symbol_.stream);
  if (symbol_.shape.kind == abi::ShapeKind::Range)
    return emit(builder, Callback::on_launch_range, site,
                {kernel, stream, rangeOperand(call_, symbol_.shape, 0), rangeOperand(call_, symbol_.shape, 2),
                 rangeOperand(call_, symbol_.shape, 3)});
  const auto [grid, block] = emitDimensions(builder, call_, symbol_.shape);
  emit(builder, Callback::on_launch, site,
       {kernel, stream, grid.xy, grid.z, block.xy, block.z, orZero(builder, symbol_.shared)});
}

void CallProtocol::emitAfter(IRBuilder<> &builder, Value *site) const {
  switch (symbol_.verb) {
  case Verb::Alloc:
  case Verb::Wrap:
    return emitAfterAlloc(builder, site);
  case Verb::Realloc:
    return emit(builder, Callback::on_alloc, site, {&call_, sizeIn(builder)});
  case Verb::Map:
    return emit(builder, Callback::on_map, site,
                {&call_, sizeIn(builder), at(symbol_.protection), at(symbol_.mapping)});
  case Verb::Launch:
    if (isStub(symbol_)) // after the launch, no hook uses the site
      return emitCancel(builder, site);
    return emitStatus(builder, site, Callback::on_failed, {at(symbol_.kernel)});
  case Verb::Copy:
  case Verb::Set:
    return emitStatus(builder, site, Callback::on_failed, {at(symbol_.address)});
  case Verb::Free:
    return emitStatus(builder, site, Callback::on_freed, {at(symbol_.address), sizeIn(builder)});
  case Verb::Protect:
    return emitStatus(builder, site, Callback::on_protect,
                      {at(symbol_.address), sizeIn(builder), at(symbol_.protection)});
  case Verb::Retain:
  case Verb::Argument:
  case Verb::Kernel:
  case Verb::Access:
  case Verb::Device:
  case Verb::Handle:
  case Verb::Show:
    return;
  }
}

// Emits a callback behind the call, with the call's status as an argument. Emits nothing if the call has no status.
void CallProtocol::emitStatus(IRBuilder<> &builder, Value *site, Callback callback, Values rest) const {
  if (!returnsStatus(call_, symbol_))
    return;
  rest.push_back(builder.CreateSExt(&call_, builder.getInt64Ty()));
  emit(builder, callback, site, rest);
}

void CallProtocol::emitAfterAlloc(IRBuilder<> &builder, Value *site) const {
  switch (symbol_.result.kind) {
  case ResultKind::None:
    return;
  case ResultKind::Return:
    return emit(builder, Callback::on_alloc, site, {&call_, sizeIn(builder)});
  case ResultKind::Out:
    return emit(builder, Callback::on_alloc_out, site,
                {at(symbol_.result.at), sizeIn(builder), builder.CreateSExt(&call_, builder.getInt64Ty())});
  case ResultKind::At:
    return emit(builder, Callback::on_alloc_out, site,
                {inMemory(builder, at(symbol_.result.at)), sizeIn(builder),
                 builder.CreateSExt(&call_, builder.getInt64Ty())});
  case ResultKind::Handle:
    return emit(builder, Callback::on_alloc_status, site, {&call_, sizeIn(builder), at(symbol_.result.at)});
  }
}

} // namespace msleaks::passes
