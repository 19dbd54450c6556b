// Reads lines and inlined functions of one image from its DWARF, by elfutils' libdw. The DWARF is in the image, or in a
// separate file that the image's build id or its .gnu_debuglink names.
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
  // `debug_folder` is the parent of .build-id. The result is empty if the image has no DWARF.
  static DebugInfo open(const std::filesystem::path &image, const std::filesystem::path &debug_folder);
  DebugInfo();
  DebugInfo(DebugInfo &&) noexcept;
  DebugInfo &operator=(DebugInfo &&) noexcept;
  ~DebugInfo();

  // Returns the function at `address` (an address in the file). If calls were inlined there, the inlined functions come
  // first, innermost first. Returns nothing if the address is not known.
  std::vector<CodePlace> at(uint64_t address) const;
  // Returns where the variable that begins at `address` is defined, without its name. Returns an empty place if this is
  // not known, or if there are too many variables to search.
  CodePlace variableAt(uint64_t address) const;
  // Like TypeLayouts::memberAt.
  std::string memberAt(std::string_view type, uint64_t offset) const;

  // Like the function with this name in line_code.h.
  std::vector<CodeRange> codeOfLine(std::string_view file, uint32_t line) const;

private:
  struct State;
  void forEachUnit(const std::function<void(Dwarf_Die &)> &) const;
  explicit DebugInfo(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

} // namespace msleaks::analysis::inline places
