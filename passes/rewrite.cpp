#include "rewrite.h"

#include "compat.h"
#include "find.h"
#include "guard.h"
#include "launch_shape.h"
#include "link.h"
#include "marks.h"
#include "pin.h"
#include "runtime_decls.h"
#include "site_table.h"
#include "unit.h"

#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

using abi::ResultKind;
using abi::Symbol;
using abi::Verb;

constexpr char kProducer[] = "MemPass " MSL_VERSION " LLVM " LLVM_VERSION_STRING;

// Inserts the callbacks of one call.
class CallRewriter {
public:
  // `enclosing`: the row of the function that makes the call, or null.
  CallRewriter(GlobalVariable &unit, RuntimeDecls &runtime, const FoundCall &found, const Symbol *enclosing,
               uint32_t row)
      : unit_(unit), runtime_(runtime), call_(*found.call), symbol_(*found.symbol), enclosing_(enclosing), row_(row) {}

  void run() {
    switch (symbol_.verb) {
    case Verb::Alloc:
    case Verb::Wrap:
      return aroundAlloc();
    case Verb::Realloc:
      return aroundRealloc();
    case Verb::Map:
      return aroundMap();
    case Verb::Free:
      return before(insideItsKind() ? Callback::on_inner_free : Callback::on_free,
                    [this](IRBuilder<> &b) { return Values{at(symbol_.address), sizeIn(b)}; });
    case Verb::Retain:
      return before(Callback::on_retain, [this](IRBuilder<> &) { return Values{at(symbol_.address)}; });
    case Verb::Launch:
      return beforeLaunch();
    case Verb::Copy:
      return before(Callback::on_copy, [this](IRBuilder<> &b) {
        return Values{at(symbol_.address), at(symbol_.source), at(symbol_.size), orNull(b, symbol_.stream),
                      orZero(b, symbol_.direction)};
      });
    case Verb::Set:
      return before(Callback::on_set, [this](IRBuilder<> &b) {
        return Values{at(symbol_.address), orZero(b, symbol_.value), at(symbol_.size), orNull(b, symbol_.stream)};
      });
    }
  }

private:
  using Values = SmallVector<Value *, 8>;

  Value *at(abi::Position position) const { return operandAt(call_, position); }
  Value *orZero(IRBuilder<> &b, abi::Position position) const {
    Value *value = at(position);
    return value ? value : b.getInt64(0);
  }
  Value *orNull(IRBuilder<> &b, abi::Position position) const {
    Value *value = at(position);
    return value ? value : ConstantPointerNull::get(b.getPtrTy());
  }

  static Value *number(IRBuilder<> &b, Value *word) {
    return word->getType()->isPointerTy() ? b.CreatePtrToInt(word, b.getInt64Ty()) : b.CreateZExt(word, b.getInt64Ty());
  }

  // size * count, or all ones when that does not fit (the real allocator refuses such a call).
  Value *sizeIn(IRBuilder<> &b) const {
    Value *size = number(b, orZero(b, symbol_.size)), *count = at(symbol_.count);
    if (!count)
      return size;
    count = number(b, count);
    if (isa<ConstantInt>(size) && isa<ConstantInt>(count))
      return b.getInt64(
          SaturatingMultiply(cast<ConstantInt>(size)->getZExtValue(), cast<ConstantInt>(count)->getZExtValue()));
    Value *product = b.CreateBinaryIntrinsic(Intrinsic::umul_with_overflow, size, count);
    return b.CreateSelect(b.CreateExtractValue(product, 1), b.getInt64(~uint64_t{0}), b.CreateExtractValue(product, 0));
  }

  // The free() in an operator delete of the program's own.
  bool insideItsKind() const {
    return enclosing_ && enclosing_->verb == symbol_.verb && enclosing_->family == symbol_.family;
  }

  // A tail call that must stay one: nothing can stand between it and the return.
  bool canFollow() const { return !call_.isMustTailCall(); }

  // Inserts one callback into a guarded block before `place`. `values` makes its arguments behind site and traits.
  template <typename Make> void insert(Instruction &place, Callback callback, Make values) {
    Guard guard(unit_, place, row_, call_.getDebugLoc());
    Values arguments = {guard.site(), guard.builder().getInt32(traits().packed())};
    arguments.append(values(guard.builder()));
    runtime_.call(guard.builder(), callback, arguments);
  }
  template <typename Make> void before(Callback callback, Make values) { insert(call_, callback, values); }
  template <typename Make> void after(Callback callback, Make values) {
    if (canFollow())
      insert(placeAfter(call_), callback, values);
  }
  void announce() {
    before(Callback::announce, [](IRBuilder<> &) { return Values{}; });
  }
  void leaveSite() {
    if (!canFollow())
      return announce();
    before(Callback::before, [](IRBuilder<> &) { return Values{}; });
    cancelOnUnwind();
  }

  void cancel(Instruction &place) {
    Guard guard(unit_, place, row_, call_.getDebugLoc());
    runtime_.call(guard.builder(), Callback::cancel, {guard.site()});
  }
  void cancelOnUnwind() {
    if (Instruction *landing = placeOnUnwind(call_))
      cancel(*landing);
  }

  abi::Traits traits() const { return {symbol_.verb, symbol_.family, symbol_.heap, symbol_.flags}; }

  void aroundAlloc() {
    leaveSite();
    const ResultKind kind = symbol_.result.kind;
    if (kind == ResultKind::Return)
      after(Callback::on_alloc, [this](IRBuilder<> &b) { return Values{&call_, sizeIn(b)}; });
    else if (kind == ResultKind::Out)
      after(Callback::on_alloc_out, [this](IRBuilder<> &b) {
        return Values{at(symbol_.result.at), sizeIn(b), b.CreateSExt(&call_, b.getInt64Ty())};
      });
    else if (kind == ResultKind::Handle)
      after(Callback::on_alloc_status,
            [this](IRBuilder<> &b) { return Values{&call_, sizeIn(b), at(symbol_.result.at)}; });
  }

  void aroundRealloc() {
    // Without its second half the first would be a free: then only a hook may record.
    if (!canFollow())
      return announce();
    if (symbol_.mapping.present())
      before(Callback::on_remap, [this](IRBuilder<> &b) {
        return Values{at(symbol_.address), at(symbol_.old_size), sizeIn(b), at(symbol_.mapping)};
      });
    else
      before(Callback::on_free, [this](IRBuilder<> &b) { return Values{at(symbol_.address), b.getInt64(0)}; });
    cancelOnUnwind();
    after(Callback::on_alloc, [this](IRBuilder<> &b) { return Values{&call_, sizeIn(b)}; });
  }

  void aroundMap() {
    leaveSite();
    after(Callback::on_map,
          [this](IRBuilder<> &b) { return Values{&call_, sizeIn(b), at(symbol_.protection), at(symbol_.mapping)}; });
  }

  // The launch inside takes the site, when that is instrumented too.
  void aroundStub() {
    announce();
    cancelOnUnwind();
    if (canFollow())
      cancel(placeAfter(call_));
  }

  void beforeLaunch() {
    if (!symbol_.kernel.present())
      return aroundStub();
    if (symbol_.shape.kind == abi::ShapeKind::Range)
      return before(Callback::on_launch_range, [this](IRBuilder<> &b) {
        return Values{at(symbol_.kernel), orNull(b, symbol_.stream), rangeOperand(call_, symbol_.shape, 0),
                      rangeOperand(call_, symbol_.shape, 2), rangeOperand(call_, symbol_.shape, 3)};
      });
    before(Callback::on_launch, [this](IRBuilder<> &b) {
      const auto [grid, block] = emitDimensions(b, call_, symbol_.shape);
      return Values{at(symbol_.kernel),       orNull(b, symbol_.stream), grid.xy, grid.z, block.xy, block.z,
                    orZero(b, symbol_.shared)};
    });
  }

  GlobalVariable &unit_;
  RuntimeDecls &runtime_;
  CallBase &call_;
  const Symbol &symbol_;
  const Symbol *enclosing_;
  uint32_t row_;
};

// Collected before the first insertion, which splits blocks.
SmallVector<FoundCall> takeCalls(Module &module, const KnownSymbols &symbols, Stage stage) {
  SmallVector<FoundCall> calls;
  forEachEligible(module, symbols, [&](Function &function) {
    if (function.isPresplitCoroutine()) // what stands between its suspension points is cut out by shape
      return;
    for (const FoundCall &found : findCalls(function, symbols))
      if (stage == Stage::Compile || awaitsRewrite(function) || markOf(*found.call))
        calls.push_back(found);
  });
  return calls;
}

} // namespace

PreservedAnalyses RewritePass::run(Module &module, ModuleAnalysisManager &) {
  const bool right =
      mistakes_ == Mistakes::Report ? reportMistakes(*options_, module.getContext()) : options_->error.empty();
  if (!right || options_->off || !targetIsSupported(module) || (stage_ == Stage::Link && !awaitsRewrite(module)))
    return PreservedAnalyses::all();
  const KnownSymbols symbols(module, options_->rows);
  restoreMarks(module, symbols);
  const SmallVector<FoundCall> calls = takeCalls(module, symbols, stage_);
  if (calls.empty()) {
    unpin(module);
    dropMarks(module);
    return PreservedAnalyses::none();
  }
  GlobalVariable *unit = makeUnit(module);
  RuntimeDecls runtime(module);
  SiteTable table(module.getSourceFileName(), kProducer);
  SmallVector<uint32_t> rows;
  for (const FoundCall &found : calls)
    rows.push_back(table.add(describe(found)));
  // From the end: splitting a block moves what is behind the split, which then is only what lies before the next call.
  for (const auto &[found, row] : reverse(zip_equal(calls, rows))) {
    CallRewriter(*unit, runtime, found, symbols.find(*found.call->getFunction()), row).run();
    leaveAlone(*found.call);
  }
  unpin(module);
  dropMarks(module);
  const std::string bytes = table.bytes();
  finishUnit(*unit, bytes);
  if (stage_ == Stage::Compile)
    addImageFunctions(module);
  return PreservedAnalyses::none();
}

} // namespace msleaks::passes
