// The user's options for the passes. They come from `-passes='mem-pass<…>'`, or from the environment variable
// MSLEAKS_PASS.
//
//   MSLEAKS_PASS=off                      do nothing
//   MSLEAKS_PASS='rows=allocators.rows'   also instrument these allocators (rows_file.h)
//   MSLEAKS_PASS='cfg=^ggml_compute'      count the edges of these functions (graphs/count.h); `cfg`: of all functions.
//                                         In a device's module, both count all kernels
//   MSLEAKS_PASS='cfg;counters=all'       count with a counter on each edge
//   MSLEAKS_PASS='cfg;in-kernel'          kernels of CUDA and HIP count their own edges (graphs/count_in_kernel.h)
//   MSLEAKS_PASS=link                     the linker loads the plugin too: with LTO, rewrite in the link (link.h)
//
// Options are separated by `;`.
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
  bool counts = false;       // count the edges of functions
  std::string cfg;           // regular expression for demangled names of host functions to count; empty: all of them
  bool all_counters = false; // a counter on each edge, even if its count follows from other counts
  bool ir = false;           // the table of graphs contains the IR of each block
  bool in_kernel = false;    // kernels count their own edges (graphs/count_in_kernel.h)
  bool edge_calls = false;   // each edge is counted by a call (graphs/edge_calls.h)
  std::string rows_file;
  UserRows rows;
  std::string error;
};

inline constexpr char kOptionsVariable[] = "MSLEAKS_PASS";
// This environment variable adds the option `link`, if it is not empty. Build systems set it, since they cannot append
// an option to the user's MSLEAKS_PASS.
inline constexpr char kLinkVariable[] = "MSLEAKS_LINK";

// Parses the options. `origin` names the source of the text, for error messages.
std::shared_ptr<const Options> parseOptions(llvm::StringRef text, llvm::StringRef origin);
std::shared_ptr<const Options> optionsFromEnvironment();

// Reports a mistake in the options as a compiler error. Returns true if there is no mistake.
bool reportMistakes(const Options &options, llvm::LLVMContext &context);

} // namespace msleaks::passes
