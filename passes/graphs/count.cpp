#include "graphs/count.h"

#include "attributes.h"
#include "compat.h"
#include "find.h"
#include "graphs/edge_graph.h"
#include "graphs/edge_places.h"
#include "graphs/graph_table.h"
#include "graphs/loop_registers.h"
#include "graphs/spanning_tree.h"
#include "graphs/thread_counters.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Regex.h"

#define DEBUG_TYPE "msleaks"

using namespace llvm;

ALWAYS_ENABLED_STATISTIC(CountedEdges, "Edges of counted functions");
ALWAYS_ENABLED_STATISTIC(Counters, "Counters on them");

namespace msleaks::passes {
namespace {

constexpr char kProducer[] = "MemPass " MSL_VERSION " LLVM " LLVM_VERSION_STRING;
constexpr char kDone[] = "msleaks.counted"; // fat LTO objects and links come by twice

bool canBeCounted(const Function &function) {
  return !function.isDeclaration() && !function.hasAvailableExternallyLinkage() && !function.isPresplitCoroutine() &&
         !function.hasFnAttribute(Attribute::Naked) && !function.hasFnAttribute(Attribute::NoProfile) &&
         !function.hasFnAttribute(Attribute::SkipProfile) && !function.getName().starts_with("__msl_");
}

SetVector<Function *> chosenFunctions(Module &module, const Options &options) {
  const Regex chosen(options.cfg);
  SetVector<Function *> functions;
  for (Function &function : module)
    if (canBeCounted(function) && (options.cfg.empty() || chosen.match(demangle(function.getName().str()))))
      functions.insert(&function);
  return functions;
}

class HostCounting {
public:
  HostCounting(Module &module, const Options &options, FunctionAnalysisManager &analyses)
      : options_(options), analyses_(analyses), table_(module.getSourceFileName(), kProducer, targetOf(module).str()),
        counters_(module) {}

  void run(SetVector<Function *> functions) {
    for (Function *function : functions)
      count(*function);
    counters_.finish(counter_count_, table_.bytes(counter_count_));
    dropUntrueAttributes(std::move(functions));
  }

private:
  void count(Function &function) {
    EdgeGraph graph(function, analyses_.getResult<BlockFrequencyAnalysis>(function),
                    analyses_.getResult<BranchProbabilityAnalysis>(function));
    const SmallVector<EdgeCount> counts = choose(graph);
    table_.add(graph, counts, analyses_.getResult<LoopAnalysis>(function),
               options_.all_counters ? uint32_t{abi::kCountsAll} : 0);
    insert(function, graph, counts);
    analyses_.invalidate(function, PreservedAnalyses::none());
  }

  SmallVector<EdgeCount> choose(const EdgeGraph &graph) {
    const SmallVector<bool> needed = edgesOutsideOfTree(graph);
    SmallVector<EdgeCount> counts;
    for (const auto &[edge, needs] : zip_equal(graph.edges(), needed)) {
      const bool is_counted = edge.countable() && (needs || options_.all_counters);
      counts.push_back({.counter = is_counted ? counter_count_++ : abi::kNoCounter,
                        .flags = needs && !edge.countable() ? uint8_t{abi::kUnknown} : uint8_t{0}});
      ++CountedEdges;
      Counters += is_counted;
    }
    return counts;
  }

  void insert(Function &function, const EdgeGraph &graph, ArrayRef<EdgeCount> counts) {
    Instruction &begin = firstBehindAllocas(function);
    SmallVector<CounterPlace> places;
    for (const auto &[edge, count] : zip_equal(graph.edges(), counts))
      if (count.counter != abi::kNoCounter) {
        Instruction &place = edge.kind == abi::EdgeKind::Enter ? begin : placeOn(graph, edge, options_.all_counters);
        places.push_back({&place, static_cast<uint32_t>(places.size())});
      }
    const auto size = static_cast<uint32_t>(places.size());
    countAt(function, places, counters_.counters(function, begin, counter_count_ - size, size));
  }

  // Where the frame is complete: what stands behind a branch would be no part of it.
  static Instruction &firstBehindAllocas(Function &function) {
    BasicBlock &entry = function.getEntryBlock();
    Instruction *begin = &*entry.getFirstInsertionPt();
    while (isa<AllocaInst>(begin))
      begin = begin->getNextNode();
    for (Instruction &instruction : make_early_inc_range(make_range(begin->getIterator(), entry.end())))
      if (auto *slot = dyn_cast<AllocaInst>(&instruction); slot && slot->isStaticAlloca())
        slot->moveBefore(entry, begin->getIterator());
    return *begin;
  }

  const Options &options_;
  FunctionAnalysisManager &analyses_;
  GraphTable table_;
  ThreadCounters counters_;
  uint32_t counter_count_ = 0;
};

} // namespace

PreservedAnalyses CountPass::run(Module &module, ModuleAnalysisManager &analyses) {
  if (mistakes_ == Mistakes::Report && !reportMistakes(*options_, module.getContext()))
    return PreservedAnalyses::all();
  if (!options_->counts || options_->off || !options_->error.empty() || !targetIsSupported(module) ||
      module.getModuleFlag(kDone))
    return PreservedAnalyses::all();
  module.addModuleFlag(Module::Max, kDone, 1);
  const SetVector<Function *> functions = chosenFunctions(module, *options_);
  if (functions.empty())
    return PreservedAnalyses::none();
  HostCounting(module, *options_, analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager())
      .run(functions);
  return PreservedAnalyses::none();
}

} // namespace msleaks::passes
