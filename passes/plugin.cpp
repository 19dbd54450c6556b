// Registration only: which pass runs where, and by which name opt knows it.
//
//   -fpass-plugin=libMemPass.so          mark at the start of the pipeline, rewrite at its end
//   -passes='mem-pass<rows=my.rows>'     both at once; msl-mark and msl-rewrite alone; print<msl-sites>
#include "compat.h"
#include "mark.h"
#include "options.h"
#include "print_sites.h"
#include "rewrite.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace llvm;
using namespace msleaks::passes;

namespace {

using SharedOptions = std::shared_ptr<const Options>;

// The options of `name<options>`, or nothing when the text names another pass.
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
    passes.addPass(RewritePass(*options, Mistakes::AreReported));
    return true;
  }
  if (const auto options = optionsOf(text, "msl-mark", environment)) {
    passes.addPass(MarkPass(*options));
    return true;
  }
  if (const auto options = optionsOf(text, "msl-rewrite", environment)) {
    passes.addPass(RewritePass(*options, Mistakes::Report));
    return true;
  }
  if (text == "print<msl-sites>") {
    passes.addPass(PrintSitesPass(environment, outs()));
    return true;
  }
  return false;
}

void registerPasses(PassBuilder &builder) {
  const SharedOptions options = optionsFromEnvironment();
  builder.registerPipelineParsingCallback(
      [options](StringRef text, ModulePassManager &passes, ArrayRef<PassBuilder::PipelineElement>) {
        return parsePipeline(text, passes, options);
      });
  builder.registerPipelineStartEPCallback(
      [options](ModulePassManager &passes, OptimizationLevel) { passes.addPass(MarkPass(options)); });
  atOptimizerLast(
      builder, [options](ModulePassManager &passes) { passes.addPass(RewritePass(options, Mistakes::AreReported)); });
}

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {.APIVersion = LLVM_PLUGIN_API_VERSION,
          .PluginName = "MemPass",
          .PluginVersion = MSL_VERSION,
          .RegisterPassBuilderCallbacks = registerPasses};
}
