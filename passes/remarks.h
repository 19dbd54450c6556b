// Emits the remarks of -Rpass=msleaks, -Rpass-missed=msleaks and -Rpass-analysis=msleaks, if the user asks for them.
#pragma once

#include "find.h"
#include "site.h"

namespace msleaks::passes {

class Remarks {
public:
  explicit Remarks(const llvm::Module &module);

  // Reports with -Rpass that this call is recorded.
  void instrumented(const FoundCall &found, const Site &site) const;
  // Reports with -Rpass-missed each call of a known function that is not instrumented, and the reason.
  void leftAlone(const llvm::Module &module, const KnownSymbols &symbols) const;
  // Reports with -Rpass-missed that the whole module is not instrumented, since its target has no runtime.
  void otherTarget(const llvm::Module &module) const;

private:
  bool wanted_;
};

} // namespace msleaks::passes
