#include "analysis/places/path_owners.h"

#include "analysis/places/python_code.h"
#include "analysis/places/site_catalog.h"
#include "analysis/places/torch_functions.h"
#include "msleaks/abi/python_file.h"

#include <algorithm>

namespace msleaks::analysis::inline places {
namespace {

constexpr std::string_view kOfBackward = "backward", kOfOperator = "operator@", kFramework = "pytorch@";

} // namespace

std::string_view PathOwners::of(SiteId site) {
  const Owner owner =
      answers_.of(catalog_.innermostNodeOf(site), [this](Owner outer, SiteId call) { return inside(outer, call); });
  return owner == kNone ? std::string_view() : std::string_view(names_[owner - kImports]);
}

PathOwners::Owner PathOwners::inside(Owner outer, SiteId call) {
  if (const Site *python = catalog_.pythonCallOf(call))
    return insidePython(outer, *python);
  if (outer == kImports || outer > kBackward)
    return outer;
  std::string_view component = catalog_.torchComponentOf(call);
  if (component.empty() || component == kOfBackward)
    return component.empty() ? outer : kBackward;
  const bool is_operator = component.starts_with(kOfOperator);
  if (outer != kBackward || !is_operator)
    return numberOf(std::string(kFramework).append(component));
  component.remove_prefix(kOfOperator.size());
  return numberOf(std::string(kFramework).append(kOfBackward).append("@").append(component));
}

PathOwners::Owner PathOwners::insidePython(Owner outer, const Site &call) const {
  if (outer == kNone && startsTorchBackward(call.file, call.function))
    return kBackward;
  if (outer == kNone && isImport(call.origin, call.file))
    return kImports;
  return outer == kImports && abi::isUsersPython(call.file) ? kNone : outer;
}

PathOwners::Owner PathOwners::numberOf(std::string name) {
  const auto known = static_cast<Owner>(std::find(names_.begin(), names_.end(), name) - names_.begin());
  if (known == names_.size())
    names_.push_back(std::move(name));
  return kImports + known;
}

} // namespace msleaks::analysis::inline places
