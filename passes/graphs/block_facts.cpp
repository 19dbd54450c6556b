#include "graphs/block_facts.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

class Facts {
public:
  Facts(const DataLayout &layout, abi::GraphBlock &row) : layout_(layout), row_(row) {}

  void add(const Instruction &instruction) {
    if (isa<PHINode>(instruction) || isa<DbgInfoIntrinsic>(instruction))
      return;
    if (const auto *load = dyn_cast<LoadInst>(&instruction))
      return read(sizeOf(load->getType()));
    if (const auto *store = dyn_cast<StoreInst>(&instruction))
      return write(sizeOf(store->getValueOperand()->getType()));
    if (const auto *atomic = dyn_cast<AtomicRMWInst>(&instruction))
      return both(sizeOf(atomic->getValOperand()->getType()));
    if (const auto *atomic = dyn_cast<AtomicCmpXchgInst>(&instruction))
      return both(sizeOf(atomic->getNewValOperand()->getType()));
    if (const auto *call = dyn_cast<CallBase>(&instruction))
      addCall(*call);
    else if (!instruction.isTerminator())
      ++classOf(instruction);
    if (instruction.isTerminator())
      ++row_.branches;
  }

private:
  uint32_t sizeOf(Type *type) const { return static_cast<uint32_t>(layout_.getTypeStoreSize(type).getKnownMinValue()); }
  void read(uint32_t bytes) {
    ++row_.loads;
    row_.loaded_bytes += bytes;
  }
  void write(uint32_t bytes) {
    ++row_.stores;
    row_.stored_bytes += bytes;
  }
  void both(uint32_t bytes) {
    read(bytes);
    write(bytes);
  }

  void addCall(const CallBase &call) {
    const auto *intrinsic = dyn_cast<IntrinsicInst>(&call);
    if (!intrinsic)
      ++row_.calls;
    else if (const auto *copy = dyn_cast<MemTransferInst>(intrinsic))
      both(lengthOf(*copy));
    else if (const auto *fill = dyn_cast<MemSetInst>(intrinsic))
      write(lengthOf(*fill));
    else
      ++classOf(*intrinsic);
  }
  static uint32_t lengthOf(const MemIntrinsic &intrinsic) {
    const auto *length = dyn_cast<ConstantInt>(intrinsic.getLength());
    return length ? static_cast<uint32_t>(length->getLimitedValue(UINT32_MAX)) : 0;
  }

  uint32_t &classOf(const Instruction &instruction) {
    const auto isFloat = [](const Value *value) { return value->getType()->isFPOrFPVectorTy(); };
    if (isFloat(&instruction) || (instruction.getNumOperands() != 0 && isFloat(instruction.getOperand(0))))
      return row_.floats;
    const bool computes = isa<BinaryOperator>(instruction) || isa<CastInst>(instruction) || isa<CmpInst>(instruction) ||
                          isa<GetElementPtrInst>(instruction) || isa<SelectInst>(instruction);
    return computes ? row_.integers : row_.others;
  }

  const DataLayout &layout_;
  abi::GraphBlock &row_;
};

} // namespace

void addFacts(const BasicBlock &block, abi::GraphBlock &row) {
  Facts facts(block.getModule()->getDataLayout(), row);
  for (const Instruction &instruction : block)
    facts.add(instruction);
}

} // namespace msleaks::passes
