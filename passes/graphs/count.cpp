#include "graphs/count.h"

#include "annotations.h"
#include "attributes.h"
#include "compat.h"
#include "find.h"
#include "graphs/count_device.h"
#include "graphs/edge_calls.h"
#include "graphs/edge_counters.h"
#include "graphs/graph_table.h"
#include "graphs/loop_registers.h"
#include "graphs/thread_counters.h"

#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Regex.h"

#include <optional>

using namespace llvm;

namespace msleaks::passes {
namespace {

// Limits the counters that an outer loop has in registers, together with its inner loops (graphs/loop_registers.h).
constexpr unsigned kMostRegisters = 8;
constexpr char kAnnotation[] = "msleaks.cfg"; // a function with this annotation is counted, whatever its name
constexpr char kDone[] = "msleaks.counted";   // module flag: the module is counted already

bool canBeCounted(const Function &function) {
  return !function.isDeclaration() && !function.hasAvailableExternallyLinkage() && !function.isPresplitCoroutine() &&
         !function.hasFnAttribute(Attribute::Naked) && !function.hasFnAttribute(Attribute::NoProfile) &&
         !function.hasFnAttribute(Attribute::SkipProfile) && !function.getName().starts_with("__msl_");
}

SetVector<Function *> chosenFunctions(Module &module, const Options &options) {
  const Regex chosen(options.cfg);
  SmallPtrSet<const Function *, 8> annotated;
  forEachAnnotation(module, [&](const Function &function, StringRef text) {
    if (text == kAnnotation)
      annotated.insert(&function);
  });
  SetVector<Function *> functions;
  for (Function &function : module)
    if (canBeCounted(function) &&
        (options.cfg.empty() || annotated.contains(&function) || chosen.match(demangle(function.getName().str()))))
      functions.insert(&function);
  return functions;
}

class HostCounting {
public:
  HostCounting(Module &module, const Options &options, FunctionAnalysisManager &analyses)
      : options_(options), analyses_(analyses), texts_(module),
        table_(module.getSourceFileName(), targetOf(module).str(), options.ir ? &texts_ : nullptr), counters_(module) {
    if (options.edge_calls)
      calls_.emplace(module, PointerType::get(module.getContext(), 0), CallingConv::C, addAmount);
  }

  void run(SetVector<Function *> functions) {
    for (Function *function : functions)
      count(*function);
    counters_.finish(counter_count_, table_.bytes(counter_count_));
    dropUntrueAttributes(std::move(functions));
  }

private:
  void count(Function &function) {
    const EdgeGraph graph(function, analyses_.getResult<BlockFrequencyAnalysis>(function),
                          analyses_.getResult<BranchProbabilityAnalysis>(function));
    const SmallVector<EdgeCount> counts = chooseCounters(graph, options_.all_counters, counter_count_);
    table_.add(graph, function, counts, analyses_.getResult<LoopAnalysis>(function),
               options_.all_counters ? uint32_t{abi::kCountsAll} : 0);
    insert(function, graph, counts);
    analyses_.invalidate(function, PreservedAnalyses::none());
  }

  void insert(Function &function, const EdgeGraph &graph, ArrayRef<EdgeCount> counts) {
    Instruction &begin = firstBehindAllocas(function);
    const BlockNamesKept names(function.getContext(), options_.edge_calls);
    const SmallVector<CounterPlace> places = placesOf(begin, graph, counts, options_.all_counters);
    const auto size = static_cast<uint32_t>(places.size());
    Value *counters = counters_.counters(function, begin, counter_count_ - size, size);
    countAt(function, places, Calls::MayNotComeBack, calls_ ? 0 : kMostRegisters,
            [&](Instruction &before, ArrayRef<CountedAmount> amounts) {
              if (calls_)
                calls_->add(*counters, 0, nullptr, before, amounts);
              else
                addTo(*counters, before, amounts);
            });
  }

  static void addTo(Value &counters, Instruction &before, ArrayRef<CountedAmount> amounts) {
    IRBuilder<> builder(&before);
    for (const auto &[counter, amount] : amounts)
      addAmount(builder, builder.CreateConstGEP1_64(builder.getInt64Ty(), &counters, counter), amount);
  }

  static void addAmount(IRBuilder<> &builder, Value *address, Value *amount) {
    Value *count = builder.CreateLoad(builder.getInt64Ty(), address);
    builder.CreateStore(builder.CreateAdd(count, amount), address);
  }

  const Options &options_;
  FunctionAnalysisManager &analyses_;
  BlockText texts_;
  GraphTable table_;
  ThreadCounters counters_;
  std::optional<EdgeCalls> calls_;
  uint32_t counter_count_ = 0;
};

} // namespace

PreservedAnalyses CountPass::run(Module &module, ModuleAnalysisManager &analyses) {
  if (mistakes_ == Mistakes::Report && !reportMistakes(*options_, module.getContext()))
    return PreservedAnalyses::all();
  const std::optional<DeviceTarget> device = DeviceTarget::of(module);
  if (modules_ == (device ? CountedModules::Hosts : CountedModules::Devices))
    return PreservedAnalyses::all();
  if (!options_->counts || options_->off || !options_->error.empty() || (!device && !targetIsSupported(module)) ||
      module.getModuleFlag(kDone))
    return PreservedAnalyses::all();
  module.addModuleFlag(Module::Max, kDone, 1);
  FunctionAnalysisManager &of_functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
  if (device) {
    countKernels(module, *device, *options_, of_functions, canBeCounted);
    return PreservedAnalyses::none();
  }
  const SetVector<Function *> functions = chosenFunctions(module, *options_);
  if (functions.empty())
    return PreservedAnalyses::none();
  HostCounting(module, *options_, of_functions).run(functions);
  return PreservedAnalyses::none();
}

} // namespace msleaks::passes
