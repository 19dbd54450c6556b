#include "analysis/result/place_key.h"

#include "analysis/base/text.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace msleaks::analysis::inline result {
namespace {

// "/home/me/net/src/net.cpp" -> "src/net.cpp".
std::string_view lastTwo(std::string_view path) {
  const std::string_view name = baseName(path);
  if (name.size() == path.size())
    return path;
  const std::string_view folder = baseName(path.substr(0, path.size() - name.size() - 1));
  return path.substr(path.size() - name.size() - 1 - folder.size());
}

std::string firstKnown(const std::string &text, const std::string &other) { return text.empty() ? other : text; }

std::string functionOf(const SiteText &site) {
  return site.file.empty() && site.function.empty() ? fmt::format("+{:#x}", site.offset) : site.function;
}

uint64_t hashOf(std::string_view text, uint64_t seed) { return XXH3_64bits_withSeed(text.data(), text.size(), seed); }

} // namespace

PlaceKey keyOf(const SiteLine &line) {
  const SiteText &site = line.site;
  return {.file = std::string(site.file.empty() ? libraryName(site.library) : lastTwo(site.file)),
          .function = functionOf(site),
          .variable = firstKnown(site.variable, line.allocator.variable),
          .type = firstKnown(site.type, line.allocator.type),
          .callee = firstKnown(site.callee, line.allocator.callee)};
}

std::string textOf(const PlaceKey &key) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", key.file, key.function, key.variable, key.type, key.callee, key.ordinal);
}

uint64_t idOf(const PathLine &path) {
  uint64_t id = 0;
  for (const auto &call : path.calls) {
    const bool has_name = !call->function.empty();
    id = hashOf(has_name ? call->function : std::string(libraryName(call->library)) + functionOf(*call), id);
    for (const FrameText &inlined : call->inlined_at)
      id = hashOf(inlined.function, id);
  }
  return id;
}

} // namespace msleaks::analysis::inline result
