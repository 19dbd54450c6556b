// MarkPass attaches metadata (marks.h) to each call of a known function. The metadata contains facts that exist only in
// the unoptimised IR, such as the variable that gets the block. Inlining and cloning usually copy metadata. Metadata
// prevents no optimisation: an unused malloc/free pair is still removed.
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
