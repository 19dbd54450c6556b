#include "analysis/result/what_if.h"

#include <fmt/format.h>
#include <string_view>

namespace msleaks::analysis::inline result {
namespace {

// "train.cpp:203" and "net/train.cpp:203" mean "src/net/train.cpp:203", but "in.cpp:203" does not.
bool endsWithPath(std::string_view whole, std::string_view end) {
  return whole.ends_with(end) && (whole.size() == end.size() || whole[whole.size() - end.size() - 1] == '/');
}

// "grow" and "net::grow" mean "net::grow(unsigned long)".
bool isFunction(std::string_view function, std::string_view name) {
  const std::string_view bare = function.substr(0, function.find('('));
  return function == name || bare == name ||
         (bare.ends_with(name) && bare.size() > name.size() + 2 &&
          bare.substr(bare.size() - name.size() - 2, 2) == "::");
}

// "raw_" means "this->raw_".
bool isVariable(std::string_view variable, std::string_view name) {
  return variable == name || variable.ends_with(fmt::format("->{}", name)) ||
         variable.ends_with(fmt::format(".{}", name));
}

} // namespace

bool isNamed(const SiteText &site, const std::string &by) {
  if (by.empty())
    return false;
  if (!site.file.empty() && (endsWithPath(fmt::format("{}:{}", site.file, site.line), by) ||
                             endsWithPath(fmt::format("{}:{}:{}", site.file, site.line, site.column), by)))
    return true;
  return isVariable(site.variable, by) || isFunction(site.function, by);
}

} // namespace msleaks::analysis::inline result
