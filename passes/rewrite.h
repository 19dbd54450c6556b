// RewritePass inserts the callbacks after the optimiser has run, in the compile or in the link (link.h). So they
// prevent none of its optimisations. If inlining has made copies of a call, each copy becomes a site of its own.
// docs/pass.md shows the IR before and after.
#pragma once

#include "options.h"

#include "llvm/IR/PassManager.h"

#include <memory>

namespace msleaks::passes {

// Whether the pass must report mistakes in the options, or an earlier pass has reported them.
enum class Mistakes { Report, AreReported };

// In the link, only modules that wait for the rewrite are rewritten (link.h). The link may also contain modules that
// the plugin did not compile, or that are rewritten already.
enum class Stage { Compile, Link };

class RewritePass : public llvm::PassInfoMixin<RewritePass> {
public:
  RewritePass(std::shared_ptr<const Options> options, Stage stage, Mistakes mistakes)
      : options_(std::move(options)), stage_(stage), mistakes_(mistakes) {}
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  std::shared_ptr<const Options> options_;
  Stage stage_;
  Mistakes mistakes_;
};

} // namespace msleaks::passes
