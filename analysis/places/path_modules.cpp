#include "analysis/places/path_modules.h"

#include "analysis/places/torch_functions.h"

namespace msleaks::analysis::inline places {

std::string_view PathModules::of(SiteId site) {
  const uint32_t node = catalog_.innermostNodeOf(site);
  return names_[answers_.of(node, [this](uint32_t outer, SiteId call) { return inside(outer, call); })];
}

uint32_t PathModules::inside(uint32_t outer, SiteId call) {
  const Site *python = catalog_.pythonCallOf(call);
  if (python != nullptr && startsTorchBackward(python->file, python->function))
    return 0;
  if (python == nullptr || python->module.empty())
    return outer;
  const bool is_inside = python->module.starts_with('.');
  return numberOf((is_inside ? names_[outer] : std::string()).append(python->module.substr(is_inside && outer == 0)));
}

uint32_t PathModules::numberOf(std::string name) {
  const auto [at, fresh] = numbers_.try_emplace(std::move(name), static_cast<uint32_t>(names_.size()));
  if (fresh)
    names_.push_back(at->first);
  return at->second;
}

} // namespace msleaks::analysis::inline places
