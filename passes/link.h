// Moves the rewrite (rewrite.h) from the compile to the link. With LTO the linker optimises once more, over all
// modules. Callbacks in the code would prevent optimisations of the linker, such as inlining of functions that
// allocate. So if the linker also loads the plugin, the compile only prepares the module:
//
// clang-format off
//   compile   mark ─ optimise ─ PrepareLinkPass           sets module flag "msleaks.link" and attribute "msleaks-link"
//   link      PinAgainPass ─ optimise ─ RewritePass       rewrites modules and functions with them
// clang-format on
//
// If the linker does not load the plugin, the flag and the attribute have no effect, and nothing is recorded.
#pragma once

#include "options.h"

#include "llvm/IR/PassManager.h"

#include <memory>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace msleaks::passes {

// Whether this compile produces bitcode for a link with LTO.
bool isBeforeLink(const llvm::Module &module);

// Whether the module, or a module that was linked into it, waits for the rewrite.
bool awaitsRewrite(const llvm::Module &module);
bool awaitsRewrite(const llvm::Function &function);

class PrepareLinkPass : public llvm::PassInfoMixin<PrepareLinkPass> {
public:
  explicit PrepareLinkPass(std::shared_ptr<const Options> options) : options_(std::move(options)) {}
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  std::shared_ptr<const Options> options_;
};

// Pins the calls of the user's allocators again, before the linker's optimiser examines these allocators.
class PinAgainPass : public llvm::PassInfoMixin<PinAgainPass> {
public:
  explicit PinAgainPass(std::shared_ptr<const Options> options) : options_(std::move(options)) {}
  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  std::shared_ptr<const Options> options_;
};

} // namespace msleaks::passes
