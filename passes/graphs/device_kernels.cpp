#include "graphs/device_kernels.h"

#include "graphs/argument_uses.h"

#include "msleaks/abi/device_counts.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace msleaks::passes {
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
        {number(abi::kDeviceCountsVersion), number(kernel.arg_size()),
         number(alignTo(argumentOffsets(kernel).back(), sizeof(uint64_t))), number(target.waveOf(kernel)),
         ConstantDataArray::getString(context, StringRef(name, sizeof name), /*AddNull=*/false)});
    target.addConstant(content, abi::kKernelPrefix + kernel.getName());
  }
}

} // namespace msleaks::passes
