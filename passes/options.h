// What the user tells the pass: by `-passes='mem-pass<…>'` or by the environment variable MSLEAKS_PASS.
//
//   MSLEAKS_PASS=off                      do nothing
//   MSLEAKS_PASS='rows=allocators.rows'   know these allocators too (rows_file.h)
//   MSLEAKS_PASS=link                     the linker will load the plugin too: with LTO, rewrite there (link.h)
//
// Options are separated by `;`. They are read before there is a module to complain about, so a mistake is kept and
// reported by the first pass that runs.
#pragma once

#include "rows_file.h"

#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
}

namespace msleaks::passes {

struct Options {
  bool off = false;
  bool link = false;
  std::string rows_file;
  UserRows rows;
  std::string error;
};

inline constexpr char kOptionsVariable[] = "MSLEAKS_PASS";
// Not empty: `link`, from a build system that cannot add to what the user has in MSLEAKS_PASS.
inline constexpr char kLinkVariable[] = "MSLEAKS_LINK";

// `origin` names where the text comes from, for error messages.
std::shared_ptr<const Options> parseOptions(llvm::StringRef text, llvm::StringRef origin);
std::shared_ptr<const Options> optionsFromEnvironment();

// Reports the mistake, if there is one, as a compiler error. True when the pass may go on.
bool reportMistakes(const Options &options, llvm::LLVMContext &context);

} // namespace msleaks::passes
