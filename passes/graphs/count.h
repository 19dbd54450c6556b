// Inserts code that counts how often each edge of chosen functions is taken (docs/kernel-graphs.md). Host code gets its
// counters after it was inlined and simplified, which also unrolls some short loops, and before it is vectorised. At
// this point, most blocks are still those of the source, and counters cost little. Kernels get their counters at the
// optimiser's end.
#pragma once

#include "rewrite.h"

#include "llvm/IR/PassManager.h"

#include <memory>

namespace msleaks::passes {

enum class CountedModules : uint8_t { Hosts, Devices, All };

class CountPass : public llvm::PassInfoMixin<CountPass> {
public:
  CountPass(std::shared_ptr<const Options> options, Mistakes mistakes, CountedModules modules = CountedModules::All)
      : options_(std::move(options)), mistakes_(mistakes), modules_(modules) {}
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  std::shared_ptr<const Options> options_;
  Mistakes mistakes_;
  CountedModules modules_;
};

} // namespace msleaks::passes
