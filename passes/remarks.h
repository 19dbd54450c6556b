// The remarks of -Rpass=msleaks, -Rpass-missed=msleaks and -Rpass-analysis=msleaks. They cost nothing unless asked for.
#pragma once

#include "find.h"
#include "site.h"

namespace msleaks::passes {

class Remarks {
public:
  explicit Remarks(const llvm::Module &module);

  // Reports with -Rpass that this call is recorded.
  void instrumented(const FoundCall &found, const Site &site) const;
  // Reports with -Rpass-missed each call of a known function that is left alone, and why.
  void leftAlone(const llvm::Module &module, const KnownSymbols &symbols) const;
  // Reports the same for a whole module.
  void otherTarget(const llvm::Module &module) const;

private:
  bool wanted_;
};

} // namespace msleaks::passes
