// Registers the passes of the plugin: where they run in clang's and lld's pipelines, and their names for opt.
//
//   -fpass-plugin=libMemPass.so          mark at the start of the pipeline, rewrite at its end (or in the link, link.h)
//   -Wl,--load-pass-plugin=…             rewrite the modules that wait for it (link.h), after lld's optimiser
//   -passes='mem-pass<rows=my.rows>'     mark and rewrite; others: msl-mark, msl-rewrite, msl-count, print<msl-sites>
#include "compat.h"
#include "graphs/count.h"
#include "link.h"
#include "mark.h"
#include "options.h"
#include "print_sites.h"
#include "rewrite.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <utility>

using namespace llvm;
using namespace msleaks::passes;

namespace {

using SharedOptions = std::shared_ptr<const Options>;

// Returns the options of `name<options>`, or nothing if the text names another pass.
std::optional<SharedOptions> optionsOf(StringRef text, StringRef name, const SharedOptions &fallback) {
  if (text == name)
    return fallback;
  if (text.consume_front(name) && text.consume_front("<") && text.consume_back(">"))
    return parseOptions(text, name);
  return std::nullopt;
}

bool parsePipeline(StringRef text, ModulePassManager &passes, const SharedOptions &environment) {
  if (const auto options = optionsOf(text, "mem-pass", environment)) {
    passes.addPass(MarkPass(*options));
    passes.addPass(RewritePass(*options, Stage::Compile, Mistakes::AreReported));
    return true;
  }
  if (const auto options = optionsOf(text, "msl-mark", environment)) {
    passes.addPass(MarkPass(*options));
    return true;
  }
  if (const auto options = optionsOf(text, "msl-rewrite", environment)) {
    passes.addPass(RewritePass(*options, Stage::Compile, Mistakes::Report));
    return true;
  }
  if (const auto options = optionsOf(text, "msl-count", environment)) {
    passes.addPass(CountPass(*options, Mistakes::Report));
    return true;
  }
  if (text == "print<msl-sites>") {
    passes.addPass(PrintSitesPass(environment, outs()));
    return true;
  }
  return false;
}

// The state of a pipeline that is being built. `compiles` is false in the pipeline of a ThinLTO back end.
struct Pipeline {
  bool compiles = false;
  bool ended = false;
};

// Runs at the end of the pipeline of a compile. A compile of fat LTO objects has a pipeline for the bitcode and another
// one for the machine code. Then this pass runs at the end of the pipeline for the bitcode.
class EndOfCompile : public PassInfoMixin<EndOfCompile> {
public:
  explicit EndOfCompile(SharedOptions options) : options_(std::move(options)) {}
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &analyses) {
    if (isBeforeLink(module))
      return PrepareLinkPass(options_).run(module, analyses);
    return RewritePass(options_, Stage::Compile, Mistakes::AreReported).run(module, analyses);
  }
  static bool isRequired() { return true; }

private:
  SharedOptions options_;
};

// Adds the rewrite to the end of a pipeline. At -O0 the module is rewritten in the compile: the link does not optimise
// it, and a ThinLTO back end at -O0 calls no plugin.
void addEnd(ModulePassManager &passes, OptimizationLevel level, Pipeline &pipeline, const SharedOptions &options) {
  const bool first = !std::exchange(pipeline.ended, true);
  if (!pipeline.compiles)
    passes.addPass(RewritePass(options, Stage::Link, Mistakes::Report));
  else if (first && options->link && kRewritesInLink && level != OptimizationLevel::O0)
    passes.addPass(EndOfCompile(options));
  else
    passes.addPass(RewritePass(options, Stage::Compile, Mistakes::AreReported));
}

void registerLink(PassBuilder &builder, const SharedOptions &options) {
  builder.registerFullLinkTimeOptimizationEarlyEPCallback(
      [options](ModulePassManager &passes, OptimizationLevel) { passes.addPass(PinAgainPass(options)); });
  builder.registerFullLinkTimeOptimizationLastEPCallback([options](ModulePassManager &passes, OptimizationLevel) {
    passes.addPass(RewritePass(options, Stage::Link, Mistakes::Report));
  });
}

void registerPasses(PassBuilder &builder) {
  const SharedOptions options = optionsFromEnvironment();
  const auto pipeline = std::make_shared<Pipeline>();
  builder.registerPipelineParsingCallback(
      [options](StringRef text, ModulePassManager &passes, ArrayRef<PassBuilder::PipelineElement>) {
        return parsePipeline(text, passes, options);
      });
  builder.registerPipelineStartEPCallback([options, pipeline](ModulePassManager &passes, OptimizationLevel) {
    *pipeline = {.compiles = true};
    passes.addPass(MarkPass(options));
  });
  atEarlySimplification(builder, [options, pipeline](ModulePassManager &passes, OptimizationLevel) {
    if (!pipeline->compiles)
      passes.addPass(PinAgainPass(options));
  });
  atOptimizerEarly(builder, [options](ModulePassManager &passes, OptimizationLevel) {
    passes.addPass(CountPass(options, Mistakes::AreReported, CountedModules::Hosts));
  });
  atOptimizerLast(builder, [options, pipeline](ModulePassManager &passes, OptimizationLevel level) {
    passes.addPass(CountPass(options, Mistakes::AreReported, CountedModules::Devices));
    addEnd(passes, level, *pipeline, options);
  });
  registerLink(builder, options);
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {.APIVersion = LLVM_PLUGIN_API_VERSION,
          .PluginName = "MemPass",
          .PluginVersion = MSL_VERSION,
          .RegisterPassBuilderCallbacks = registerPasses};
}
