// Mark early: what only the unoptimised IR knows about a call is attached to it as metadata, before the first
// optimisation, and travels with the call through inlining and cloning.
//
//   %p = call ptr @malloc(i64 64)                 becomes
//   %p = call ptr @malloc(i64 64), !msleaks !{!"weights", !"float", i32 3}
//
// Metadata never stops an optimisation: an unused malloc/free pair still goes.
#pragma once

#include "options.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/PassManager.h"

#include <memory>
#include <optional>

namespace llvm {
class CallBase;
} // namespace llvm

namespace msleaks::passes {

struct Mark {
  llvm::StringRef variable; // destination as in the source, empty = not known
  llvm::StringRef type;     // element type, empty = not known
  uint32_t ordinal = 0;     // which one of the function's calls it is, from 1
  bool ignored = false;     // the user asked to leave it alone
};

std::optional<Mark> markOf(const llvm::CallBase &call);
void dropMark(llvm::CallBase &call);

class MarkPass : public llvm::PassInfoMixin<MarkPass> {
public:
  explicit MarkPass(std::shared_ptr<const Options> options) : options_(std::move(options)) {}
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  std::shared_ptr<const Options> options_;
};

} // namespace msleaks::passes
