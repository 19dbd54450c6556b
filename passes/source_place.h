// A line of the source, as sites and marks name it.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace llvm {
class CallBase;
class DILocation;
class DISubprogram;
class Function;
class GlobalValue;
} // namespace llvm

namespace msleaks::passes {

// `function` contains the line; for a step of an inline chain it is where the function below was inlined.
struct SourcePlace {
  std::string function; // linkage name
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  auto operator<=>(const SourcePlace &) const = default;
};

SourcePlace placeOf(const llvm::DILocation &location);
// Without debug information a module still knows the function and its own file.
SourcePlace placeOf(const llvm::CallBase &call);
// The function as a whole: no line.
SourcePlace placeOf(const llvm::DISubprogram &function);
SourcePlace placeOf(const llvm::Function &function);

// Whether the place is in a header that came with the compiler or the system.
bool isOfSystem(const SourcePlace &place);

// A symbol's name without the prefix that keeps the code generator from mangling it.
std::string plainName(const llvm::GlobalValue &value);

} // namespace msleaks::passes
