#include "graphs/count_device.h"

#include "attributes.h"
#include "compat.h"
#include "graphs/argument_uses.h"
#include "graphs/count_in_kernel.h"
#include "graphs/counted_clones.h"
#include "graphs/device_counters.h"
#include "graphs/device_kernels.h"
#include "graphs/edge_calls.h"
#include "graphs/edge_counters.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <optional>

using namespace llvm;

namespace msleaks::passes {
namespace {

// Limits the counters that an outer loop has in registers, together with its inner loops. The more registers a kernel
// uses, the fewer of its threads run at the same time.
constexpr unsigned kMostKernelRegisters = 16;
constexpr size_t kFewPlaces = 4;

// Looks for places where threads may wait for each other: barriers, and other convergent calls of functions that have
// no body in this module.
class Waits {
public:
  // Whether threads wait in the function, or in functions of this module that it calls, directly or through others.
  bool areIn(Function &function) {
    return known_.insert(&function).second &&
           any_of(instructions(function), [&](Instruction &instruction) { return areIn(instruction); });
  }

private:
  bool areIn(Instruction &instruction) {
    auto *call = dyn_cast<CallBase>(&instruction);
    if (!call || isa<IntrinsicInst>(call))
      return false;
    Function *callee = call->getCalledFunction();
    if (callee && !callee->isDeclaration())
      return areIn(*callee);
    return call->isConvergent() && !call->doesNotAccessMemory();
  }

  SmallPtrSet<Function *, 8> known_;
};

class DeviceCounting {
public:
  DeviceCounting(Module &module, const DeviceTarget &target, const Options &options, FunctionAnalysisManager &analyses)
      : module_(module), target_(target), options_(options), analyses_(analyses), texts_(module),
        table_(module.getSourceFileName(), targetOf(module).str(), options.ir ? &texts_ : nullptr),
        counters_(module, target) {
    if (options.edge_calls)
      calls_.emplace(
          module, PointerType::get(module.getContext(), target.globalSpace()), target.convention(),
          [&](IRBuilder<> &builder, Value *address, Value *amount) { target.addAtomically(builder, address, amount); });
  }

  void run(ArrayRef<CountedClone> clones, bool in_kernel) {
    for (const CountedClone &clone : clones)
      if (target_.isSpirv() && clone.is_kernel && Waits().areIn(*clone.original))
        waiting_.insert(clone.original);
    SetVector<Function *> counting;
    for (const CountedClone &clone : clones) {
      count(clone, clones);
      counting.insert(clone.clone);
    }
    const std::string table = counters_.finish(table_.bytes(counter_count_));
    if (in_kernel) {
      countInKernel(target_, clones, table);
      for (const CountedClone &clone : clones)
        if (clone.is_kernel)
          counting.insert(clone.original);
    }
    if (!target_.isSpirv())
      describeKernels(module_, target_, clones, table);
    dropUntrueAttributes(std::move(counting));
  }

private:
  void count(const CountedClone &counted, ArrayRef<CountedClone> clones) {
    Function &function = *counted.clone;
    const uint32_t first = counter_count_;
    EdgeGraph graph(function, analyses_.getResult<BlockFrequencyAnalysis>(function),
                    analyses_.getResult<BranchProbabilityAnalysis>(function), Calls::ComeBack);
    if (counted.is_kernel)
      graph.weighAsKernel();
    const SmallVector<EdgeCount> counts = chooseCounters(graph, options_.all_counters, counter_count_);
    const KernelUses uses = counted.is_kernel ? usesOf(*counted.original, target_, analyses_) : KernelUses{};
    if (counted.is_kernel)
      sayUses(*counted.original, uses);
    const uint32_t flags =
        (counted.is_kernel ? uint32_t{abi::kKernel} : 0) | (uses.others ? uint32_t{abi::kUsesOthers} : 0) |
        (options_.all_counters ? uint32_t{abi::kCountsAll} : 0) | counted.caller << abi::kCallerShift;
    table_.add(graph, *counted.original, counts, analyses_.getResult<LoopAnalysis>(function), flags, uses.arguments);

    insert(counted, clones, graph, counts, first);
    analyses_.invalidate(function, PreservedAnalyses::none());
  }

  void insert(const CountedClone &counted, ArrayRef<CountedClone> clones, const EdgeGraph &graph,
              ArrayRef<EdgeCount> counts, uint32_t first) {
    Function &function = *counted.clone;
    Instruction &begin = firstBehindAllocas(function);
    const BlockNamesKept names(function.getContext(), options_.edge_calls);
    const SmallVector<CounterPlace> all_places = placesOf(begin, graph, counts, options_.all_counters);
    const bool adds_threads = counted.is_kernel && counts.front().counter != abi::kNoCounter;
    const ArrayRef<CounterPlace> places = ArrayRef(all_places).drop_front(adds_threads ? 1 : 0);
    if (adds_threads && target_.isSpirv())
      counters_.addThreadsApart(counted.counts(), counts.front().counter, begin);
    std::optional<Bank> bank;
    if (!asksWhereItCounts(counted, places, clones))
      bank = counted.is_kernel ? counters_.bank(counted.counts(), begin) : counted.bank();
    if (adds_threads && !target_.isSpirv())
      counters_.addThreads(counted.counts(), *bank, counts.front().counter, begin);
    const bool waits = mayWait(counted);
    countAt(function, places, Calls::ComeBack, calls_ ? 0 : kMostKernelRegisters,
            [&](Instruction &before, ArrayRef<CountedAmount> amounts) {
              const Bank to = bank ? *bank : counters_.bank(counted.counts(), before);
              if (calls_)
                calls_->add(*to.address, first, to.is_counted, before, amounts);
              else if (waits)
                counters_.addByCall(to, first, before, amounts);
              else
                counters_.add(to, first, before, amounts);
            });
    if (bank)
      callClones(function, *bank, clones); // after countAt, since `places` may refer to the original calls
  }

  // Whether threads may wait for each other in the function. Each function that is no kernel may be called by a kernel
  // whose threads wait.
  bool mayWait(const CountedClone &counted) const {
    return counted.is_kernel ? waiting_.contains(counted.original) : !waiting_.empty();
  }

  // Whether a thread computes its bank (its counters) where it counts, not at the beginning of the kernel. In a kernel
  // that counts at few places, this saves time for threads that reach none of them.
  bool asksWhereItCounts(const CountedClone &counted, ArrayRef<CounterPlace> places,
                         ArrayRef<CountedClone> clones) const {
    return target_.isSpirv() && counted.is_kernel && places.size() <= kFewPlaces && !callsAny(*counted.clone, clones);
  }

  Module &module_;
  const DeviceTarget &target_;
  const Options &options_;
  FunctionAnalysisManager &analyses_;
  BlockText texts_;
  GraphTable table_;
  DeviceCounters counters_;
  std::optional<EdgeCalls> calls_;
  SmallPtrSet<const Function *, 8> waiting_; // OpenCL kernels whose threads wait for each other
  uint32_t counter_count_ = 0;
};

} // namespace

void countKernels(Module &module, const DeviceTarget &target, const Options &options, FunctionAnalysisManager &analyses,
                  function_ref<bool(const Function &)> can_be_counted) {
  const bool in_kernel = options.in_kernel && !target.isSpirv(); // a host cannot set variables of a SPIR-V module
  const SmallVector<CountedClone> clones = cloneCounted(module, target, in_kernel, can_be_counted);
  if (!clones.empty())
    DeviceCounting(module, target, options, analyses).run(clones, in_kernel);
}

} // namespace msleaks::passes
