// The meaning of a call of msleaks-clang: the compiler, its arguments and MSLEAKS_PASS. Decides only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::driver {

// Read from the environment. An empty variable counts as not set.
struct Surroundings {
  std::string llvm;    // MSLEAKS_LLVM
  std::string clang;   // MSLEAKS_CLANG
  std::string wrapper; // MSLEAKS_WRAPPER
  std::string pass;    // MSLEAKS_PASS
  std::string folder;  // the current one
  std::string prefix;  // of the installation that the wrapper belongs to
};

struct Invocation {
  std::string llvm;
  std::string clang;                  // a name to look for in PATH, or a path
  std::string plugin;                 // empty: plain clang
  std::string pass;                   // MSLEAKS_PASS for the compiler
  std::vector<std::string> arguments; // behind the compiler's name
  std::string mistake;                // error message about an --msl- option; empty = none
};

// `compiler` is clang or clang++. `default_llvm` is the newest version that has a plugin.
Invocation understand(std::string_view compiler, std::string_view default_llvm, const Surroundings &surroundings,
                      std::span<char *const> arguments);

} // namespace msleaks::driver
