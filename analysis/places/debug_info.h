// Lines and inlined functions of one image, from its DWARF (elfutils' libdw): in the file itself, or in a separate file
// that its build id or its .gnu_debuglink names.
#pragma once

#include "analysis/places/line_code.h"
#include "analysis/places/symbolizer.h"

#include <elfutils/libdw.h>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline places {

class DebugInfo {
public:
  // `debug_folder`: the parent of .build-id. Empty for an image without any DWARF.
  static DebugInfo open(const std::filesystem::path &image, const std::filesystem::path &debug_folder);
  DebugInfo();
  DebugInfo(DebugInfo &&) noexcept;
  DebugInfo &operator=(DebugInfo &&) noexcept;
  ~DebugInfo();

  // The function at `address` (as in the file), preceded by those that were inlined there, innermost first. Empty when
  // nothing is known.
  std::vector<CodePlace> at(uint64_t address) const;
  // Where the variable that begins at `address` is defined, without its name. Nothing when that is not known, or there
  // are too many variables to look through.
  CodePlace variableAt(uint64_t address) const;
  // As TypeLayouts::memberAt has it.
  std::string memberAt(std::string_view type, uint64_t offset) const;

  // As the function of that name has it (line_code.h).
  std::vector<CodeRange> codeOfLine(std::string_view file, uint32_t line) const;

private:
  struct State;
  void forEachUnit(const std::function<void(Dwarf_Die &)> &) const;
  explicit DebugInfo(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

} // namespace msleaks::analysis::inline places
