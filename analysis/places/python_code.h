// The functions and modules of Python code that a process has defined (abi::PythonCodeDefinition).
#pragma once

#include "analysis/places/site.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace msleaks::analysis::inline places {

class PythonCodes {
public:
  // Takes the body of a definition. Returns the file of the code, or nothing if the body is damaged.
  std::optional<std::string_view> add(std::span<const std::byte> body);
  // Takes the body of a definition of a module. Returns false if the body is damaged, or its code was not defined.
  bool addModule(std::span<const std::byte> body);
  // The site of a line of this code. Its origin is Unknown if the code was not defined. The strings are valid while
  // this object exists.
  Site siteOf(uint32_t code, uint32_t line) const;

private:
  struct Code {
    std::string file, function, module;
  };
  std::unordered_map<uint32_t, Code> codes_; // by number; it never moves a Code
};

// Whether the call is part of Python's import of a module. If a path has no call of the user's own code inside the
// import, it has no lines of Python code there.
bool isImport(SiteOrigin, std::string_view file);

} // namespace msleaks::analysis::inline places
