// Rewrite late: callbacks are inserted when the optimiser is done, so they cost no optimisation, and each copy of a
// call that inlining has made is a site of its own, with its inline chain. docs/pass.md shows the IR before and after.
#pragma once

#include "options.h"

#include "llvm/IR/PassManager.h"

#include <memory>

namespace msleaks::passes {

// Mistakes in the options are reported once, by whoever runs first.
enum class Mistakes { Report, AreReported };

class RewritePass : public llvm::PassInfoMixin<RewritePass> {
public:
  RewritePass(std::shared_ptr<const Options> options, Mistakes mistakes)
      : options_(std::move(options)), mistakes_(mistakes) {}
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  std::shared_ptr<const Options> options_;
  Mistakes mistakes_;
};

} // namespace msleaks::passes
