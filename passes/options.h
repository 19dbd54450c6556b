// The user's options of the pass: by `-passes='mem-pass<…>'` or by the environment variable MSLEAKS_PASS.
//
//   MSLEAKS_PASS=off                      do nothing
//   MSLEAKS_PASS='rows=allocators.rows'   know these allocators too (rows_file.h)
//   MSLEAKS_PASS='cfg=^ggml_compute' count the edges of these functions (graphs/count.h); of all: cfg
//   MSLEAKS_PASS='cfg;counters=all'  with a counter on each edge
//   MSLEAKS_PASS='cfg;in-kernel'     kernels of CUDA and HIP count themselves (graphs/count_in_kernel.h)
//   MSLEAKS_PASS=link                     the linker will load the plugin too: with LTO, rewrite there (link.h)
//
// Options are separated by `;`. They are read before there is a module, so a mistake is kept, and the first pass that
// runs reports it.
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
  bool counts = false;       // edges of functions
  std::string cfg;           // which: those whose demangled name has it (a regular expression); empty: all
  bool all_counters = false; // on each edge, not only on those that the others do not follow from
  bool ir = false;           // the table of graphs says how blocks look in IR
  bool in_kernel = false;    // kernels count themselves (graphs/count_in_kernel.h)
  bool edge_calls = false;   // by a call on each edge (graphs/edge_calls.h)
  std::string rows_file;
  UserRows rows;
  std::string error;
};

inline constexpr char kOptionsVariable[] = "MSLEAKS_PASS";
// If not empty, this is `link`. It comes from a build system that cannot add to the user's MSLEAKS_PASS.
inline constexpr char kLinkVariable[] = "MSLEAKS_LINK";

// `origin` names where the text comes from, for error messages.
std::shared_ptr<const Options> parseOptions(llvm::StringRef text, llvm::StringRef origin);
std::shared_ptr<const Options> optionsFromEnvironment();

// Reports the mistake, if there is one, as a compiler error. True when the pass may go on.
bool reportMistakes(const Options &options, llvm::LLVMContext &context);

} // namespace msleaks::passes
