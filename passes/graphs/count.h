// Counts how often each edge of chosen functions runs (docs/kernel-graphs.md), where the code is simplified and nothing
// is vectorised or unrolled yet: blocks are still those of the source, and counters cost little.
#pragma once

#include "rewrite.h"

#include "llvm/IR/PassManager.h"

#include <memory>

namespace msleaks::passes {

class CountPass : public llvm::PassInfoMixin<CountPass> {
public:
  CountPass(std::shared_ptr<const Options> options, Mistakes mistakes)
      : options_(std::move(options)), mistakes_(mistakes) {}
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  std::shared_ptr<const Options> options_;
  Mistakes mistakes_;
};

} // namespace msleaks::passes
