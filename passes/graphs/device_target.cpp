#include "graphs/device_target.h"

#include "compat.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr char kAnnotations[] = "nvvm.annotations";

// Whether the row of metadata describes the function. A row is, for example, { function, "kernel", 1 }.
bool isOf(const MDNode &row, const Function &function) {
  const auto *of = row.getNumOperands() != 0 ? dyn_cast_or_null<ValueAsMetadata>(row.getOperand(0).get()) : nullptr;
  return of && of->getValue() == &function;
}

bool isListed(const Function &function) {
  const NamedMDNode *rows = function.getParent()->getNamedMetadata(kAnnotations);
  return rows && any_of(rows->operands(), [&](const MDNode *row) {
           const auto *key = row->getNumOperands() > 1 ? dyn_cast_or_null<MDString>(row->getOperand(1).get()) : nullptr;
           return key && key->getString() == "kernel" && isOf(*row, function);
         });
}

// Whether all thread blocks of an AMDGPU kernel have the same size, as by default in HIP. In newer versions of LLVM,
// the attribute has no value.
bool hasFullBlocks(const Function &kernel) {
  const Attribute uniform = kernel.getFnAttribute("uniform-work-group-size");
  return uniform.isValid() && uniform.getValueAsString() != "false";
}

} // namespace

std::optional<DeviceTarget> DeviceTarget::of(Module &module) {
  switch (targetOf(module).getArch()) {
  case Triple::spir64:
  case Triple::spirv64:
    return DeviceTarget(module, Kind::Spirv);
  case Triple::nvptx64:
    return DeviceTarget(module, Kind::Nvptx);
  case Triple::amdgcn:
    return DeviceTarget(module, Kind::Amdgcn);
  default:
    return std::nullopt;
  }
}

bool DeviceTarget::isKernel(const Function &function) const {
  switch (function.getCallingConv()) {
  case CallingConv::SPIR_KERNEL:
  case CallingConv::PTX_Kernel:
  case CallingConv::AMDGPU_KERNEL:
    return true;
  default:
    return kind_ == Kind::Nvptx && isListed(function);
  }
}

unsigned DeviceTarget::convention() const { return isSpirv() ? CallingConv::SPIR_FUNC : CallingConv::C; }

void DeviceTarget::listAs(const Function &kernel, Function &copy) const {
  NamedMDNode *rows = module_->getNamedMetadata(kAnnotations);
  if (kind_ != Kind::Nvptx || !rows)
    return;
  SmallVector<MDNode *> added;
  for (MDNode *row : rows->operands())
    if (isOf(*row, kernel)) {
      SmallVector<Metadata *> words(row->op_begin(), row->op_end());
      words[0] = ValueAsMetadata::get(&copy);
      added.push_back(MDNode::get(module_->getContext(), words));
    }
  for (MDNode *row : added)
    rows->addOperand(row);
}

// These attributes of AMDGPU say that a function does not read a value. Removes only those for values that the code of
// this file reads: each removed attribute costs registers in every call that the copy makes.
void DeviceTarget::dropWhatItAsks(Function &copy) const {
  AttributeMask untrue;
  for (const StringRef asked : {"dispatch-ptr", "workgroup-id-x", "workgroup-id-y", "workgroup-id-z", "workitem-id-x",
                                "workitem-id-y", "workitem-id-z"})
    untrue.addAttribute(("amdgpu-no-" + asked).str());
  copy.removeFnAttrs(untrue);
}

// Emits a call of a function that OpenCL defines. `describe` adds attributes to the function's declaration.
CallInst *DeviceTarget::callOf(IRBuilder<> &builder, StringRef name, Type &result, uint32_t argument,
                               function_ref<void(Function &)> describe) const {
  FunctionCallee callee =
      module_->getOrInsertFunction(name, FunctionType::get(&result, {builder.getInt32Ty()}, /*isVarArg=*/false));
  if (auto *function = dyn_cast<Function>(callee.getCallee()); function && function->isDeclaration()) {
    function->setCallingConv(CallingConv::SPIR_FUNC);
    function->setDoesNotThrow();
    describe(*function);
  }
  CallInst *call = builder.CreateCall(callee, {builder.getInt32(argument)});
  call->setCallingConv(CallingConv::SPIR_FUNC);
  return call;
}

// Emits a call that the back end translates to a built-in variable.
Value *DeviceTarget::ask(IRBuilder<> &builder, StringRef name, unsigned dimension) const {
  return callOf(builder, name, *builder.getInt64Ty(), dimension, [](auto &function) {
    function.setDoesNotAccessMemory();
    function.setWillReturn();
  });
}

Value *DeviceTarget::special(IRBuilder<> &builder, StringRef name, unsigned dimension) const {
  static constexpr char kDimensions[] = "xyz";
  const FunctionCallee callee = module_->getOrInsertFunction(
      (name + "." + Twine(kDimensions[dimension])).str(), FunctionType::get(builder.getInt32Ty(), /*isVarArg=*/false));
  return builder.CreateZExt(builder.CreateCall(callee), builder.getInt64Ty());
}

// Emits the load of a field of the packet that launched the kernel (hsa_kernel_dispatch_packet_t).
Value *DeviceTarget::packet(IRBuilder<> &builder, unsigned bits, unsigned offset) const {
  constexpr unsigned kConstant = 4;
  const FunctionCallee callee =
      module_->getOrInsertFunction("llvm.amdgcn.dispatch.ptr", FunctionType::get(builder.getPtrTy(kConstant), false));
  Value *address = builder.CreateConstGEP1_64(builder.getInt8Ty(), builder.CreateCall(callee), offset);
  return builder.CreateZExt(builder.CreateAlignedLoad(builder.getIntNTy(bits), address, Align(bits / 8)),
                            builder.getInt64Ty());
}

Value *DeviceTarget::blockNumber(IRBuilder<> &builder, unsigned dimension) const {
  switch (kind_) {
  case Kind::Spirv:
    return ask(builder, "_Z12get_group_idj", dimension);
  case Kind::Nvptx:
    return special(builder, "llvm.nvvm.read.ptx.sreg.ctaid", dimension);
  case Kind::Amdgcn:
    return special(builder, "llvm.amdgcn.workgroup.id", dimension);
  }
  return nullptr;
}

Value *DeviceTarget::blockCount(IRBuilder<> &builder, unsigned dimension) const {
  switch (kind_) {
  case Kind::Spirv:
    return ask(builder, "_Z14get_num_groupsj", dimension);
  case Kind::Nvptx:
    return special(builder, "llvm.nvvm.read.ptx.sreg.nctaid", dimension);
  case Kind::Amdgcn:
    break;
  }
  // The packet contains the number of threads, not of blocks. The last block may be smaller than the other blocks.
  const auto narrow = [&](Value *number) { return builder.CreateTrunc(number, builder.getInt32Ty()); };
  Value *threads = narrow(gridSize(builder, dimension));
  Value *block = narrow(blockSize(builder, dimension));
  Value *full = builder.CreateUDiv(threads, block);
  Value *rest = builder.CreateICmpNE(builder.CreateMul(full, block), threads);
  return builder.CreateZExt(builder.CreateAdd(full, builder.CreateZExt(rest, builder.getInt32Ty())),
                            builder.getInt64Ty());
}

Value *DeviceTarget::threadNumber(IRBuilder<> &builder, unsigned dimension) const {
  switch (kind_) {
  case Kind::Spirv:
    return ask(builder, "_Z12get_local_idj", dimension);
  case Kind::Nvptx:
    return special(builder, "llvm.nvvm.read.ptx.sreg.tid", dimension);
  case Kind::Amdgcn:
    return special(builder, "llvm.amdgcn.workitem.id", dimension);
  }
  return nullptr;
}

Value *DeviceTarget::gridSize(IRBuilder<> &builder, unsigned dimension) const {
  constexpr unsigned kGridSize = 12;
  return packet(builder, 32, kGridSize + 4 * dimension);
}

Value *DeviceTarget::blockSize(IRBuilder<> &builder, unsigned dimension) const {
  constexpr unsigned kBlockSize = 4;
  return packet(builder, 16, kBlockSize + 2 * dimension);
}

Value *DeviceTarget::threadCount(IRBuilder<> &builder, unsigned dimension) const {
  switch (kind_) {
  case Kind::Spirv:
    return ask(builder, "_Z14get_local_sizej", dimension);
  case Kind::Nvptx:
    return special(builder, "llvm.nvvm.read.ptx.sreg.ntid", dimension);
  case Kind::Amdgcn:
    break;
  }
  Value *block = blockSize(builder, dimension);
  if (hasFullBlocks(*builder.GetInsertBlock()->getParent()))
    return block;
  Value *before = builder.CreateMul(blockNumber(builder, dimension), block);
  Value *rest = builder.CreateSub(gridSize(builder, dimension), before);
  return builder.CreateSelect(builder.CreateICmpULT(rest, block), rest, block);
}

Value *DeviceTarget::globalNumber(IRBuilder<> &builder) const { return ask(builder, "_Z13get_global_idj", 0); }

void DeviceTarget::show(GlobalVariable &variable) const {
  variable.setLinkage(GlobalValue::WeakAnyLinkage);
  variable.setAlignment(Align(sizeof(uint64_t)));
  variable.setVisibility(GlobalValue::ProtectedVisibility); // so that the program finds the variable in a loaded image
  appendToCompilerUsed(*module_, {&variable});
}

void DeviceTarget::addConstant(Constant *content, const Twine &name) const {
  show(*new GlobalVariable(*module_, content->getType(), /*isConstant=*/true, GlobalValue::ExternalLinkage, content,
                           name, nullptr, GlobalValue::NotThreadLocal, constantSpace()));
}

GlobalVariable &DeviceTarget::addPointer(const Twine &name) const {
  auto *type = PointerType::get(module_->getContext(), globalSpace());
  auto *variable =
      new GlobalVariable(*module_, type, /*isConstant=*/false, GlobalValue::ExternalLinkage,
                         ConstantPointerNull::get(type), name, nullptr, GlobalValue::NotThreadLocal, globalSpace());
  variable->setExternallyInitialized(true);
  show(*variable);
  return *variable;
}

// For AMDGPU, a target feature names the size of a wave. Without this feature, a wave has 32 threads on gfx10 and newer
// processors, and 64 threads on older processors.
uint32_t DeviceTarget::waveOf(const Function &function) const {
  constexpr uint32_t kNarrow = 32, kWide = 64;
  if (kind_ == Kind::Nvptx)
    return kNarrow;
  const StringRef features = function.getFnAttribute("target-features").getValueAsString();
  if (features.contains("+wavefrontsize64"))
    return kWide;
  const StringRef processor = function.getFnAttribute("target-cpu").getValueAsString();
  const bool is_new = processor.starts_with("gfx1") && processor.size() > 6;
  return is_new || features.contains("+wavefrontsize32") ? kNarrow : kWide;
}

// Emits barrier(CLK_LOCAL_MEM_FENCE).
void DeviceTarget::waitForBlock(IRBuilder<> &builder) const {
  constexpr uint32_t kLocalFence = 1;
  callOf(builder, "_Z7barrierj", *builder.getVoidTy(), kLocalFence, [](auto &function) {
    function.setConvergent();
  })->setConvergent();
}

// Adds with two 32-bit atomics, since some OpenCL devices have no 64-bit atomics.
//
//   %old = atomicrmw add ptr %address, i32 (lower half)
//   %carry = %old + lower half < %old
//   br (upper half + %carry != 0), more, rest        ; hardly ever
//   more: atomicrmw add ptr %address + 4, i32 …
void DeviceTarget::addHalves(IRBuilder<> &builder, Value *address, Value *amount) const {
  const auto scope = builder.getContext().getOrInsertSyncScopeID("device");
  const auto add = [&](Value *where, Value *what) {
    return builder.CreateAtomicRMW(AtomicRMWInst::Add, where, what, Align(4), AtomicOrdering::Monotonic, scope);
  };
  Type *half = builder.getInt32Ty();
  Value *low = builder.CreateTrunc(amount, half);
  Value *old = add(address, low);
  Value *carry = builder.CreateZExt(builder.CreateICmpULT(builder.CreateAdd(old, low), old), half);
  Value *high = builder.CreateAdd(builder.CreateTrunc(builder.CreateLShr(amount, 32), half), carry);
  Instruction *behind = &*builder.GetInsertPoint();
  Instruction *then = SplitBlockAndInsertIfThen(builder.CreateIsNotNull(high), before(*behind), /*Unreachable=*/false,
                                                unlikelyBranchWeights(builder.getContext()));
  builder.SetInsertPoint(then);
  add(builder.CreateConstGEP1_64(half, address, 1), high);
  builder.SetInsertPoint(behind);
}

void DeviceTarget::addAtomically(IRBuilder<> &builder, Value *address, Value *amount) const {
  if (isSpirv())
    return addHalves(builder, address, amount);
  const auto scope = builder.getContext().getOrInsertSyncScopeID(kind_ == Kind::Amdgcn ? "agent" : "device");
  builder.CreateAtomicRMW(AtomicRMWInst::Add, address, amount, Align(8), AtomicOrdering::Monotonic, scope);
}

} // namespace msleaks::passes
