// A line of the source, as sites and marks name it.
#pragma once

#include <cstdint>
#include <string>

namespace llvm {
class DILocation;
class DISubprogram;
class GlobalValue;
} // namespace llvm

namespace msleaks::passes {

// `function` contains the line; for a step of an inline chain it is where the function below was inlined.
struct SourcePlace {
  std::string function; // linkage name
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
};

SourcePlace placeOf(const llvm::DILocation &location);
// The function as a whole: no line.
SourcePlace placeOf(const llvm::DISubprogram &function);

// A symbol's name without the mark that asks the code generator to leave it as it is.
std::string plainName(const llvm::GlobalValue &value);

} // namespace msleaks::passes
