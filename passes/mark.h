// Mark early: what only the unoptimised IR knows about a call is attached to it before the first optimisation
// (marks.h), and travels with it through inlining and cloning. Metadata never stops an optimisation: an unused
// malloc/free pair still goes.
#pragma once

#include "options.h"

#include "llvm/IR/PassManager.h"

#include <memory>

namespace msleaks::passes {

class MarkPass : public llvm::PassInfoMixin<MarkPass> {
public:
  explicit MarkPass(std::shared_ptr<const Options> options) : options_(std::move(options)) {}
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  std::shared_ptr<const Options> options_;
};

} // namespace msleaks::passes
