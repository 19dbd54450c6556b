// One name for the modules of PyTorch that have allocated the blocks of a finding.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline findings {

class CommonModule {
public:
  // Adds blocks of a module; empty = they belong to none.
  void add(std::string_view module, uint64_t bytes);
  // The module, or a name for the largest modules, which have nine tenths of the bytes of all modules. Components in
  // which they differ are "*", as in "Net.layers.*.attn". If these modules are not equally deep, the name is the part
  // that they begin with. Empty if at most half of the bytes belong to modules, or if the modules have no common part.
  std::string name() const;

private:
  uint64_t bytes_ = 0;
  std::map<std::string, uint64_t, std::less<>> modules_; // their bytes
};

} // namespace msleaks::analysis::inline findings
