#include "analysis/findings/common_module.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline findings {
namespace {

std::string_view takeComponent(std::string_view &name) {
  const std::string_view component = name.substr(0, name.find('.'));
  name.remove_prefix(std::min(name.size(), component.size() + 1));
  return component;
}

auto depthOf(std::string_view name) { return std::count(name.begin(), name.end(), '.'); }

// The components that both names have at the begin. If `with_stars` is set, other components become "*".
std::string commonOf(std::string_view left, std::string_view right, bool with_stars) {
  std::string common;
  while (!left.empty() && !right.empty()) {
    const std::string_view component = takeComponent(left);
    const bool is_same = component == takeComponent(right);
    if (!is_same && (!with_stars || common.empty()))
      break;
    common.append(common.empty() ? "" : ".").append(is_same ? component : "*");
  }
  return common;
}

} // namespace

void CommonModule::add(std::string_view module, uint64_t bytes) {
  bytes_ += bytes;
  if (module.empty())
    return;
  const auto known = modules_.find(module);
  (known != modules_.end() ? known->second : modules_[std::string(module)]) += bytes;
}

std::string CommonModule::name() const {
  std::vector<std::pair<uint64_t, std::string_view>> largest;
  uint64_t of_modules = 0;
  for (const auto &[module, bytes] : modules_) {
    largest.emplace_back(bytes, module);
    of_modules += bytes;
  }
  if (of_modules <= bytes_ / 2)
    return {};
  std::sort(largest.begin(), largest.end(), std::greater<>());
  uint64_t left = of_modules;
  const auto end = std::find_if(largest.begin(), largest.end(), [&](const auto &module) {
    const bool is_small_rest = left <= of_modules / 10;
    left -= module.first;
    return is_small_rest;
  });
  std::string common(largest.front().second);
  const bool are_equally_deep =
      std::all_of(largest.begin(), end, [&](const auto &module) { return depthOf(module.second) == depthOf(common); });
  for (auto module = largest.begin(); module != end; ++module)
    common = commonOf(common, module->second, are_equally_deep);
  return common;
}

} // namespace msleaks::analysis::inline findings
