#include "graphs/counted_clones.h"

#include "compat.h"

#include "msleaks/abi/device_counts.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

constexpr uint64_t kCountsAlign = 8;

// Adds the new argument to OpenCL's metadata, which describes each argument of a kernel.
void describeArgument(Function &kernel, const DeviceTarget &target) {
  LLVMContext &context = kernel.getContext();
  const auto text = [&](StringRef word) -> Metadata * { return MDString::get(context, word); };
  Metadata *space = ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(context), target.globalSpace()));
  const std::pair<StringRef, Metadata *> kWords[] = {
      {"kernel_arg_addr_space", space},    {"kernel_arg_access_qual", text("none")},
      {"kernel_arg_type", text("ulong*")}, {"kernel_arg_base_type", text("ulong*")},
      {"kernel_arg_type_qual", text("")},  {"kernel_arg_name", text("__msl_counts")},
  };
  for (const auto &[name, word] : kWords)
    if (const MDNode *known = kernel.getMetadata(name)) {
      SmallVector<Metadata *> words(known->op_begin(), known->op_end());
      words.push_back(word);
      kernel.setMetadata(name, MDNode::get(context, words));
    }
}

// Copies the kernel's variables in local memory. PoCL finds these variables by their names, which begin with the
// kernel's name.
void cloneLocals(const Function &original, StringRef name, const DeviceTarget &target, ValueToValueMapTy &values) {
  Module &module = *const_cast<Module *>(original.getParent());
  SmallVector<GlobalVariable *> locals;
  for (GlobalVariable &variable : module.globals())
    if (variable.getAddressSpace() == target.sharedSpace() && variable.hasLocalLinkage() &&
        variable.getName().starts_with((original.getName() + ".").str()))
      locals.push_back(&variable);
  for (GlobalVariable *local : locals) {
    auto *copy = new GlobalVariable(module, local->getValueType(), local->isConstant(), local->getLinkage(),
                                    local->hasInitializer() ? local->getInitializer() : nullptr,
                                    name + local->getName().drop_front(original.getName().size()), nullptr,
                                    local->getThreadLocalMode(), local->getAddressSpace());
    copy->copyAttributesFrom(local);
    values[local] = copy;
  }
}

Function *makeClone(Function &original, const DeviceTarget &target, bool is_kernel, bool in_kernel) {
  SmallVector<Type *> types(original.getFunctionType()->params());
  types.push_back(PointerType::get(original.getContext(), target.globalSpace()));
  if (!is_kernel)
    types.push_back(Type::getInt1Ty(original.getContext()));
  const std::string name = abi::kCountedPrefix + original.getName().str();
  Function *clone = Function::Create(FunctionType::get(original.getReturnType(), types, original.isVarArg()),
                                     is_kernel ? original.getLinkage() : GlobalValue::InternalLinkage,
                                     original.getAddressSpace(), name, original.getParent());
  ValueToValueMapTy values;
  for (const auto &[from, to] : zip(original.args(), clone->args())) {
    to.setName(from.getName());
    values[&from] = &to;
  }
  if (is_kernel && target.isSpirv())
    cloneLocals(original, name, target, values);
  SmallVector<ReturnInst *> returns;
  DISubprogram *described = is_kernel && in_kernel ? original.getSubprogram() : nullptr;
  if (described)
    values.MD()[described].reset(described);
  CloneFunctionInto(clone, &original, values, CloneFunctionChangeType::LocalChangesOnly, returns);
  if (described)
    clone->setSubprogram(nullptr); // the code keeps the kernel's debug information

  if (!is_kernel) { // CloneFunctionInto copied the visibility, but the copy is internal
    clone->setVisibility(GlobalValue::DefaultVisibility);
    clone->setDSOLocal(true);
  }
  if (is_kernel) {
    Argument *counts = clone->arg_end() - 1;
    counts->addAttr(Attribute::getWithAlignment(clone->getContext(), Align(kCountsAlign)));
    counts->addAttr(Attribute::NoAlias); // the kernel's own code does not access the counts
    describeArgument(*clone, target);
    target.listAs(original, *clone);
  }
  if (is_kernel)
    target.dropWhatItAsks(*clone);
  return clone;
}

// Adds to `reached` all functions that its elements, from index `begin` on, call directly or through other functions.
// Calls through pointers are not followed.
void addCalled(SetVector<Function *> &reached, size_t begin, const DeviceTarget &target,
               function_ref<bool(const Function &)> can_be_counted) {
  for (size_t i = begin; i < reached.size(); ++i) // the set grows in the loop
    for (Instruction &instruction : instructions(*reached[i]))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (Function *callee = call->getCalledFunction();
            callee && can_be_counted(*callee) && !target.isKernel(*callee) && !callee->isVarArg())
          reached.insert(callee);
}

// Returns the calls of functions that have a copy, each with the copy.
SmallVector<std::pair<CallInst *, const CountedClone *>> callsOf(Function &caller, ArrayRef<CountedClone> clones) {
  SmallVector<std::pair<CallInst *, const CountedClone *>> calls;
  for (Instruction &instruction : instructions(caller)) {
    auto *call = dyn_cast<CallInst>(&instruction);
    if (!call || call->isMustTailCall())
      continue;
    const auto *clone = find_if(clones, [&](const CountedClone &known) {
      return !known.is_kernel && known.original == call->getCalledFunction();
    });
    if (clone != clones.end())
      calls.push_back({call, clone});
  }
  return calls;
}

} // namespace

Argument &CountedClone::counts() const { return *(clone->arg_end() - 1); }
Bank CountedClone::bank() const { return {clone->arg_end() - 2, clone->arg_end() - 1, nullptr, nullptr}; }

SmallVector<CountedClone> cloneCounted(Module &module, const DeviceTarget &target, bool in_kernel,
                                       function_ref<bool(const Function &)> can_be_counted) {
  SetVector<Function *> reached;
  for (Function &function : module)
    if (target.isKernel(function) && can_be_counted(function))
      reached.insert(&function);
  const size_t kernels = reached.size();
  DenseMap<const Function *, unsigned> callers;
  for (size_t i = 0; i < kernels; ++i) {
    SetVector<Function *> called;
    called.insert(reached[i]);
    addCalled(called, 0, target, can_be_counted);
    for (const Function *function : drop_begin(called)) {
      const auto [known, is_new] = callers.try_emplace(function, static_cast<unsigned>(i) + 1);
      if (!is_new)
        known->second = 0;
    }
  }
  addCalled(reached, 0, target, can_be_counted);
  SmallVector<CountedClone> clones;
  for (size_t i = 0; i < reached.size(); ++i) {
    const unsigned caller = callers.lookup(reached[i]);
    clones.push_back({reached[i], makeClone(*reached[i], target, i < kernels, in_kernel), i < kernels, caller});
  }
  return clones;
}

bool callsAny(Function &caller, ArrayRef<CountedClone> clones) { return !callsOf(caller, clones).empty(); }

void callClones(Function &caller, const Bank &bank, ArrayRef<CountedClone> clones) {
  for (const auto &[call, clone] : callsOf(caller, clones)) {
    SmallVector<Value *> arguments(call->args());
    arguments.append({bank.address, bank.is_counted});
    SmallVector<OperandBundleDef> bundles;
    call->getOperandBundlesAsDefs(bundles);
    CallInst *counted = CallInst::Create(clone->clone, arguments, bundles, "", before(*call));
    counted->setCallingConv(call->getCallingConv());
    counted->setTailCallKind(call->getTailCallKind());
    counted->setAttributes(call->getAttributes());
    counted->copyMetadata(*call);
    counted->takeName(call);
    call->replaceAllUsesWith(counted);
    call->eraseFromParent();
  }
}

} // namespace msleaks::passes
