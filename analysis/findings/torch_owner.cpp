#include "analysis/findings/torch_owner.h"

namespace msleaks::analysis::inline findings {
namespace {

constexpr struct {
  std::string_view component, phase;
} kPhases[] = {{"operator", "forward"}, {"backward", "backward"}, {"optimizer", "optimizer"}};

} // namespace

std::optional<TorchOwner> torchOwnerOf(std::string_view owner) {
  constexpr std::string_view kFramework = "pytorch@";
  if (!owner.starts_with(kFramework))
    return std::nullopt;
  owner.remove_prefix(kFramework.size());
  const std::string_view component = owner.substr(0, owner.find('@'));
  for (const auto &known : kPhases)
    if (known.component == component)
      return TorchOwner{known.phase, owner.substr(component == owner ? owner.size() : component.size() + 1)};
  return std::nullopt;
}

} // namespace msleaks::analysis::inline findings
