// Decides how msleaks-clang calls clang: which compiler, which arguments, and which value of MSLEAKS_PASS. Starts no
// process.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::driver {

// The environment of a call of the wrapper. An empty variable counts as not set.
struct Surroundings {
  std::string llvm;    // value of MSLEAKS_LLVM
  std::string clang;   // value of MSLEAKS_CLANG
  std::string wrapper; // value of MSLEAKS_WRAPPER
  std::string pass;    // value of MSLEAKS_PASS
  std::string folder;  // the current folder
  std::string prefix;  // folder of the installation that contains the wrapper
};

struct Invocation {
  std::string llvm;
  std::string clang;                  // a name that is searched in PATH, or a path
  std::string plugin;                 // path of the plugin; empty: plain clang is called
  std::string pass;                   // value of MSLEAKS_PASS for the compiler
  std::vector<std::string> arguments; // arguments of the compiler, without its name
  std::string mistake;                // error message about an --msl- option; empty = none
};

// Decides what to call for these arguments. `compiler` is clang or clang++. `default_llvm` is the newest LLVM version
// for which msleaks has a plugin.
Invocation understand(std::string_view compiler, std::string_view default_llvm, const Surroundings &surroundings,
                      std::span<char *const> arguments);

} // namespace msleaks::driver
