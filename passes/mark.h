// Some facts about a call, such as the variable that gets the block, exist only in the unoptimised IR. MarkPass
// attaches them to the call as metadata, before the first optimisation (marks.h). Inlining and cloning copy the
// metadata. Metadata never prevents an optimisation: an unused malloc/free pair is still removed.
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
