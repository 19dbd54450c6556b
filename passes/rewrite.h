// Rewrite late: callbacks are inserted when the optimiser is done, so they cost no optimisation, and each copy of a
// call that inlining has made is a site of its own, with its inline chain. docs/pass.md shows the IR before and after.
#pragma once

#include "options.h"

#include "llvm/IR/PassManager.h"

#include <memory>

namespace msleaks::passes {

class RewritePass : public llvm::PassInfoMixin<RewritePass> {
public:
  explicit RewritePass(std::shared_ptr<const Options> options) : options_(std::move(options)) {}
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  std::shared_ptr<const Options> options_;
};

} // namespace msleaks::passes
