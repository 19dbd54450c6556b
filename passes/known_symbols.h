// Finds the row that describes a callee. A row says what a function does with memory (msleaks/abi/functions.h).
//
// If several sources describe a function, the first one in this list is used:
//
//   1. the user's rows file
//   2. __attribute__((annotate("msleaks.alloc"))) or "msleaks.free"
//   3. msleaks' table of functions, for functions that are visible outside of the module
//   4. the compiler's own attributes: allockind, alloc_size
#pragma once

#include "rows_file.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

#include <deque>
#include <string>

namespace llvm {
class Function;
class Module;
class Type;
} // namespace llvm

namespace msleaks::passes {

// Whether an event can store a value of this type in one word: a pointer, or an integer of at most 64 bits.
bool isWord(const llvm::Type &type);

class KnownSymbols {
public:
  KnownSymbols(const llvm::Module &module, const UserRows &rows);

  // Returns the row of a callee, or null.
  const abi::Symbol *find(const llvm::Function &callee) const;
  // Whether the user annotated the function with msleaks.ignore.
  bool ignored(const llvm::Function &function) const { return ignored_.contains(&function); }
  // Whether the user named the function as a wrapper (wrappers.h).
  bool isWrapper(const llvm::Function &function) const { return wrappers_.contains(&function); }
  // The functions of this module that a rows file or an annotation names. Their calls are pinned (pin.h).
  const llvm::SetVector<const llvm::Function *> &named() const { return named_; }
  // The first mistake in an annotation or a row; empty if there is none.
  const std::string &error() const { return error_; }

private:
  void addPinned(const llvm::Module &module);
  void readAnnotations(const llvm::Module &module);
  void addAnnotation(const llvm::Function &function, llvm::StringRef text);
  void addNamed(const llvm::Module &module, const UserRows &rows);
  void addAttributed(const llvm::Module &module);
  void add(const llvm::Function &function, const abi::Symbol &symbol);
  void fail(const llvm::Twine &what);

  llvm::StringMap<const abi::Symbol *> table_;
  std::deque<abi::Symbol> own_; // rows that are not in the table; in a deque, their addresses stay valid
  llvm::DenseMap<const llvm::Function *, const abi::Symbol *> byFunction_;
  llvm::DenseSet<const llvm::Function *> ignored_, wrappers_;
  llvm::SetVector<const llvm::Function *> named_;
  std::string error_;
};

// Whether the function is a launch stub: the host function that the compiler makes for a kernel of CUDA or HIP.
// `kernel<<<…>>>(…)` calls the stub, and the stub launches the kernel.
bool isLaunchStub(const llvm::Function &function);

} // namespace msleaks::passes
