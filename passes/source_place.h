// Names a line of the source, for sites (site.h) and marks (marks.h).
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

// A line in `function`. In an inline chain, the line is the call of the next inner function.
struct SourcePlace {
  std::string function; // linkage name
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  auto operator<=>(const SourcePlace &) const = default;
};

SourcePlace placeOf(const llvm::DILocation &location);
// Returns the place of a call. Without debug information, the place has only the function and the module's source file.
SourcePlace placeOf(const llvm::CallBase &call);
// Returns the place of a whole function, which has no line.
SourcePlace placeOf(const llvm::DISubprogram &function);
SourcePlace placeOf(const llvm::Function &function);

// Whether the place is in a header of the compiler, the system or an installed Python package.
bool isOfSystem(const SourcePlace &place);

// Returns a symbol's name without the prefix that prevents the code generator from mangling the name.
std::string plainName(const llvm::GlobalValue &value);

} // namespace msleaks::passes
