#include "graphs/device_counters.h"

#include "compat.h"

#include "msleaks/abi/device_counts.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <array>
#include <cstddef>
#include <cstring>

using namespace llvm;

namespace msleaks::passes {
namespace {

using abi::CountMode;

constexpr char kCount[] = "__msl_count";
constexpr unsigned kDimensions = 3;
using Numbers = std::array<Value *, kDimensions>;

Value *linear(IRBuilder<> &builder, const Numbers &at, const Numbers &of) {
  Value *rows = builder.CreateAdd(builder.CreateMul(at[2], of[1]), at[1]);
  return builder.CreateAdd(builder.CreateMul(rows, of[0]), at[0]);
}

// Emits the load of a 32-bit field of the header (abi::DeviceCounts).
Value *fieldOf(IRBuilder<> &builder, Value *header, size_t offset) {
  Value *address = builder.CreateConstGEP1_64(builder.getInt8Ty(), header, offset);
  return builder.CreateAlignedLoad(builder.getInt32Ty(), address, Align(4));
}

// A thread's number in its thread block, and the number of threads in this block. Both have 32 bits, because a division
// of 64-bit numbers takes a hundred instructions on a device.
struct Threads {
  Threads(IRBuilder<> &builder, const DeviceTarget &target) {
    Numbers at, of;
    for (unsigned i = 0; i < kDimensions; ++i) {
      at[i] = target.threadNumber(builder, i);
      of[i] = target.threadCount(builder, i);
    }
    const auto narrow = [&](Value *wide) { return builder.CreateTrunc(wide, builder.getInt32Ty()); };
    number = narrow(linear(builder, at, of));
    count = narrow(builder.CreateMul(builder.CreateMul(of[0], of[1]), of[2]));
  }
  Value *number, *count;
};

// Emits device code that does the same as abi::linearBlock and abi::counts. It computes the number of a thread block,
// and whether a thread counts.
class Choice {
public:
  Choice(IRBuilder<> &builder, const DeviceTarget &target, Value *header) : builder_(builder), header_(header) {
    for (unsigned i = 0; i < kDimensions; ++i) {
      block_[i] = target.blockNumber(builder, i);
      blocks_[i] = target.blockCount(builder, i);
    }
    linear_ = linear(builder, block_, blocks_);
  }

  Value *block() const { return linear_; }

  Value *isCentre() {
    Value *all = builder_.getTrue();
    for (unsigned i = 0; i < kDimensions; ++i)
      all = builder_.CreateAnd(all, builder_.CreateICmpEQ(block_[i], builder_.CreateLShr(blocks_[i], 1)));
    return all;
  }

  // Returns the number of the first thread of the wave in the middle of the thread block.
  Value *centreWave(const Threads &threads) {
    Value *wave = fieldOf(builder_, header_, offsetof(abi::DeviceCounts, wave));
    Value *rounded = builder_.CreateAdd(threads.count, builder_.CreateSub(wave, builder_.getInt32(1)));
    return builder_.CreateMul(builder_.CreateLShr(builder_.CreateUDiv(rounded, wave), 1), wave);
  }

  Value *isInWave(const Threads &threads, Value *begin) {
    Value *wave = fieldOf(builder_, header_, offsetof(abi::DeviceCounts, wave));
    return builder_.CreateICmpULT(builder_.CreateSub(threads.number, begin), wave); // false if number < begin
  }

  Value *isStratum() {
    Value *blocks = builder_.CreateMul(builder_.CreateMul(blocks_[0], blocks_[1]), blocks_[2]);
    Value *last = builder_.CreateICmpEQ(linear_, builder_.CreateSub(blocks, builder_.getInt64(1)));
    Value *spread = builder_.CreateLShr(builder_.CreateMul(linear_, builder_.getInt64(abi::kStrataFactor)),
                                        builder_.getInt64(abi::kStrataShift));
    Value *hashed = builder_.CreateAnd(spread, field(offsetof(abi::DeviceCounts, strata_mask)));
    Value *ends = builder_.CreateOr(builder_.CreateIsNull(linear_), last);
    return builder_.CreateOr(isCentre(), builder_.CreateOr(ends, builder_.CreateIsNull(hashed)));
  }

  Value *field(size_t offset) { return builder_.CreateZExt(fieldOf(builder_, header_, offset), builder_.getInt64Ty()); }

private:
  IRBuilder<> &builder_;
  Value *header_;
  Numbers block_, blocks_;
  Value *linear_;
};

} // namespace

DeviceCounters::DeviceCounters(Module &module, const DeviceTarget &target)
    : module_(module), target_(target), global_(PointerType::get(module.getContext(), target.globalSpace())) {}

// Emits:
//
//   %bank = header + 32 + 8 × counters × (block & bank_mask)
//   switch mode, strata [full: join], [cta: cta], [wavefront: wave]
// cta:
//   … br join
// join:
//   %is_counted = phi [true, of full], [… of cta], [… of wave], [… of strata]
//   %block_counts = phi [true, of full], …, [whether it is the centre, of wave], …
//   %first = phi [0, of full], …
Bank DeviceCounters::bank(Value &counts, Instruction &begin) {
  IRBuilder<> builder(&begin);
  Choice choice(builder, target_, &counts);
  Value *banked = builder.CreateAnd(choice.block(), choice.field(offsetof(abi::DeviceCounts, bank_mask)));
  Value *first = builder.CreateMul(banked, choice.field(offsetof(abi::DeviceCounts, counters)));
  Value *bytes = builder.CreateAdd(builder.CreateShl(first, 3), builder.getInt64(sizeof(abi::DeviceCounts)));
  Value *bank = builder.CreateGEP(builder.getInt8Ty(), &counts, bytes);
  Value *mode = fieldOf(builder, &counts, offsetof(abi::DeviceCounts, mode));

  const Threads threads(builder, target_);
  BasicBlock *head = begin.getParent();
  BasicBlock *join = SplitBlock(head, before(begin));
  builder.SetInsertPoint(join, join->begin());
  PHINode *is_counted = builder.CreatePHI(builder.getInt1Ty(), 4);
  PHINode *block_counts = builder.CreatePHI(builder.getInt1Ty(), 4);
  PHINode *first_thread = builder.CreatePHI(builder.getInt32Ty(), 4);
  const auto begins = [&] {
    BasicBlock *block = BasicBlock::Create(begin.getContext(), "", join->getParent(), join);
    builder.SetInsertPoint(block);
    return block;
  };
  const auto ends = [&](Value *thread_does, Value *block_does, Value *begins_at) {
    is_counted->addIncoming(thread_does, builder.GetInsertBlock());
    block_counts->addIncoming(block_does, builder.GetInsertBlock());
    first_thread->addIncoming(begins_at, builder.GetInsertBlock());
    if (builder.GetInsertBlock() != head)
      builder.CreateBr(join);
  };
  const auto endsAsBlock = [&](Value *is_chosen) { ends(is_chosen, is_chosen, builder.getInt32(0)); };
  BasicBlock *cta = begins();
  endsAsBlock(choice.isCentre());
  BasicBlock *wave = begins();
  Value *wave_begin = choice.centreWave(threads), *is_centre = choice.isCentre();
  ends(builder.CreateAnd(is_centre, choice.isInWave(threads, wave_begin)), is_centre, wave_begin);
  BasicBlock *strata = begins();
  endsAsBlock(choice.isStratum());
  head->getTerminator()->eraseFromParent();
  builder.SetInsertPoint(head);
  endsAsBlock(builder.getTrue());
  SwitchInst *modes = builder.CreateSwitch(mode, strata, 3);
  const auto addMode = [&](CountMode value, BasicBlock *to) {
    modes->addCase(builder.getInt32(static_cast<uint32_t>(value)), to);
  };
  addMode(CountMode::Full, join);
  addMode(CountMode::Cta, cta);
  addMode(CountMode::Wavefront, wave);
  return {bank, is_counted, block_counts, first_thread};
}

Value *DeviceCounters::isFirstThread(IRBuilder<> &builder) const {
  Value *numbers = target_.threadNumber(builder, 0);
  for (unsigned i = 1; i < kDimensions; ++i)
    numbers = builder.CreateOr(numbers, target_.threadNumber(builder, i));
  return builder.CreateIsNull(numbers);
}

// Emits: atomicrmw add %bank + 8 × k, (threads of the block, or of the wave that counts)
void DeviceCounters::addAll(Value &counts, const Bank &bank, uint32_t counter, Instruction &before) const {
  IRBuilder<> builder(&before);
  const Threads threads(builder, target_);
  Value *mode = fieldOf(builder, &counts, offsetof(abi::DeviceCounts, mode));
  Value *wave = fieldOf(builder, &counts, offsetof(abi::DeviceCounts, wave));
  Value *is_wave = builder.CreateICmpEQ(mode, builder.getInt32(static_cast<uint32_t>(CountMode::Wavefront)));
  Value *rest = builder.CreateSub(threads.count, bank.first);
  Value *is_cut = builder.CreateAnd(is_wave, builder.CreateICmpULT(wave, rest));
  Value *size = builder.CreateSelect(is_cut, wave, rest);
  Value *address = builder.CreateConstGEP1_64(builder.getInt64Ty(), bank.address, counter);
  target_.addAtomically(builder, address, builder.CreateZExt(size, builder.getInt64Ty()));
}

// Emits:
//
//   br (%block_counts && %thread == 0), leads, rest
// leads: (addAll)
void DeviceCounters::addThreads(Value &counts, const Bank &bank, uint32_t counter, Instruction &begin) const {
  IRBuilder<> builder(&begin);
  Value *leads = builder.CreateAnd(bank.block_counts, isFirstThread(builder));
  addAll(counts, bank, counter, *SplitBlockAndInsertIfThen(leads, before(begin), /*Unreachable=*/false));
}

// On a CPU, OpenCL runs the threads of a thread block one after the other, in a loop between two barriers. The barrier
// below ends the loop that contains the counting. So no value of the counting lives in the kernel's own loop, where it
// would be stored in memory for each thread.
//
//   br (%thread == 0), first, rest
// first: %bank = …
//   br %block_counts, leads, rest
// leads: (addAll)
// rest: barrier
void DeviceCounters::addThreadsApart(Value &counts, uint32_t counter, Instruction &begin) {
  IRBuilder<> builder(&begin);
  Instruction *first = SplitBlockAndInsertIfThen(isFirstThread(builder), before(begin), /*Unreachable=*/false);
  const Bank own = bank(counts, *first);
  addAll(counts, own, counter, *SplitBlockAndInsertIfThen(own.block_counts, before(*first), /*Unreachable=*/false));
  builder.SetInsertPoint(&begin);
  target_.waitForBlock(builder);
}

void DeviceCounters::add(const Bank &bank, uint32_t first, Instruction &before, ArrayRef<CountedAmount> amounts) const {
  IRBuilder<> builder(&before);
  Instruction *then = SplitBlockAndInsertIfThen(bank.is_counted, passes::before(before), /*Unreachable=*/false);
  builder.SetInsertPoint(then);
  for (const auto &[counter, amount] : amounts)
    target_.addAtomically(builder, builder.CreateConstGEP1_64(builder.getInt64Ty(), bank.address, first + counter),
                          amount);
}

void DeviceCounters::addByCall(const Bank &bank, uint32_t first, Instruction &before, ArrayRef<CountedAmount> amounts) {
  IRBuilder<> builder(&before);
  for (const auto &[counter, amount] : amounts) {
    Value *address = builder.CreateConstGEP1_64(builder.getInt64Ty(), bank.address, first + counter);
    Value *counted = builder.CreateSelect(bank.is_counted, amount, builder.getInt64(0));
    CallInst *call = builder.CreateCall(&countFunction(), {address, counted});
    call->setCallingConv(countFunction().getCallingConv());
  }
}

// Returns the function that addByCall calls. It adds the amount to the counter:
//
// define internal spir_func void @__msl_count(ptr addrspace(1) %counter, i64 %amount) noinline {
//   br (%amount != 0), add, end
Function &DeviceCounters::countFunction() {
  if (count_)
    return *count_;
  LLVMContext &context = module_.getContext();
  Type *amounts = Type::getInt64Ty(context);
  count_ = Function::Create(FunctionType::get(Type::getVoidTy(context), {global_, amounts}, /*isVarArg=*/false),
                            GlobalValue::InternalLinkage, kCount, &module_);
  count_->setCallingConv(static_cast<CallingConv::ID>(target_.convention()));
  count_->addFnAttr(Attribute::NoInline);
  count_->setDoesNotThrow();
  IRBuilder<> builder(BasicBlock::Create(context, "", count_));
  Instruction *end = builder.CreateRetVoid();
  builder.SetInsertPoint(end);
  Value *amount = count_->getArg(1);
  Value *counts = builder.CreateIsNotNull(amount);
  builder.SetInsertPoint(SplitBlockAndInsertIfThen(counts, before(*end), /*Unreachable=*/false));
  target_.addAtomically(builder, count_->getArg(0), amount);
  return *count_;
}

// Makes a kernel that copies the table of graphs into memory that the program can read:
//
// define spir_kernel void @__msl_graphs_HASH(ptr addrspace(1) %to) {
//   %i = call i64 @get_global_id(0)
//   to[%i] = table[%i]
void DeviceCounters::defineCopy(GlobalVariable &table, StringRef name) {
  LLVMContext &context = module_.getContext();
  Type *nothing = Type::getVoidTy(context);
  Function *copy =
      Function::Create(FunctionType::get(nothing, {global_}, false), GlobalValue::ExternalLinkage, name, &module_);
  copy->setCallingConv(CallingConv::SPIR_KERNEL);
  copy->setDoesNotThrow();
  IRBuilder<> builder(BasicBlock::Create(context, "", copy));
  Value *number = target_.globalNumber(builder);
  Value *from = builder.CreateInBoundsGEP(table.getValueType(), &table, {builder.getInt64(0), number});
  Value *to = builder.CreateInBoundsGEP(builder.getInt64Ty(), copy->getArg(0), number);
  builder.CreateStore(builder.CreateLoad(builder.getInt64Ty(), from), to);
  builder.CreateRetVoid();
  const auto describe = [&](StringRef what, Metadata *word) { copy->setMetadata(what, MDNode::get(context, {word})); };
  describe("kernel_arg_addr_space",
           ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(context), target_.globalSpace())));
  describe("kernel_arg_access_qual", MDString::get(context, "none"));
  describe("kernel_arg_type", MDString::get(context, "ulong*"));
  describe("kernel_arg_base_type", MDString::get(context, "ulong*"));
  describe("kernel_arg_type_qual", MDString::get(context, ""));
}

std::string DeviceCounters::finish(StringRef table) {
  SmallVector<uint64_t> words(table.size() / sizeof(uint64_t));
  std::memcpy(words.data(), table.data(), words.size() * sizeof(uint64_t));
  Constant *content = ConstantDataArray::get(module_.getContext(), words);
  const std::string hash = utohexstr(hashOf((module_.getSourceFileName() + table).str()), /*LowerCase=*/true, 16);
  const std::string name = abi::kGraphsPrefix + hash;
  if (!target_.isSpirv()) {
    target_.addConstant(content, name);
    return name;
  }
  auto *constant =
      new GlobalVariable(module_, content->getType(), /*isConstant=*/true, GlobalValue::InternalLinkage, content,
                         name + ".table", nullptr, GlobalValue::NotThreadLocal, target_.constantSpace());
  constant->setAlignment(Align(sizeof(uint64_t)));
  defineCopy(*constant, name);
  return name;
}

} // namespace msleaks::passes
