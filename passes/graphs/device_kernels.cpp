#include "graphs/device_kernels.h"

#include "msleaks/abi/device_counts.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

// Arguments lie one behind the other, each on its own alignment; a struct that is passed by its address lies there
// itself.
uint32_t countsOffset(const Function &kernel) {
  const DataLayout &layout = kernel.getParent()->getDataLayout();
  uint64_t end = 0;
  for (const Argument &argument : kernel.args()) {
    Type *by_value = argument.getParamByValType() ? argument.getParamByValType() : argument.getParamByRefType();
    Type *type = by_value ? by_value : argument.getType();
    const Align natural = layout.getABITypeAlign(type);
    end = alignTo(end, by_value ? argument.getParamAlign().value_or(natural) : natural) + layout.getTypeAllocSize(type);
  }
  return static_cast<uint32_t>(alignTo(end, Align(sizeof(uint64_t))));
}

} // namespace

void describeKernels(Module &module, const DeviceTarget &target, ArrayRef<CountedClone> clones, StringRef table) {
  LLVMContext &context = module.getContext();
  char name[sizeof abi::DeviceKernel::table] = {};
  copy(table.take_front(sizeof name - 1), name);
  for (const CountedClone &counted : clones) {
    const Function &kernel = *counted.original;
    if (!counted.is_kernel)
      continue;
    const auto number = [&](uint64_t value) { return ConstantInt::get(Type::getInt32Ty(context), value); };
    Constant *content = ConstantStruct::getAnon(
        {number(abi::kDeviceCountsVersion), number(kernel.arg_size()), number(countsOffset(kernel)),
         number(target.waveOf(kernel)),
         ConstantDataArray::getString(context, StringRef(name, sizeof name), /*AddNull=*/false)});
    target.addConstant(content, abi::kKernelPrefix + kernel.getName());
  }
}

} // namespace msleaks::passes
