// print<msl-sites> prints the calls that the pass would instrument, and then the calls that make functions wrappers.
// The output is for people and for FileCheck. Changes nothing.
//
//   _Z4makei: malloc alloc heap at layer.cpp:12:20 in _Z4makei type=float variable=l.output
#pragma once

#include "options.h"

#include "llvm/IR/PassManager.h"

#include <memory>

namespace llvm {
class raw_ostream;
}

namespace msleaks::passes {

class PrintSitesPass : public llvm::PassInfoMixin<PrintSitesPass> {
public:
  PrintSitesPass(std::shared_ptr<const Options> options, llvm::raw_ostream &out)
      : options_(std::move(options)), out_(out) {}
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  std::shared_ptr<const Options> options_;
  llvm::raw_ostream &out_;
};

} // namespace msleaks::passes
