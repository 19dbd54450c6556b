#include "analysis/foreign/analyzer_library.h"

#include <algorithm>
#include <dlfcn.h>
#include <fmt/format.h>
#include <string_view>

namespace msleaks::analysis {
namespace {

std::string refusalOf(const std::string &file, const std::string &why) {
  return fmt::format("analyzer '{}' is not used: {}", file, why);
}

// A part of the names of its findings and tables.
bool isName(const char *text) {
  const std::string_view name = text == nullptr ? "" : text;
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string describe(const char *failure) { return failure == nullptr ? "nobody knows why" : failure; }

} // namespace

Result<AnalyzerLibrary> AnalyzerLibrary::load(const std::filesystem::path &given) {
  const auto refuse = [&](const std::string &why) { return fail(refusalOf(given.string(), why)); };
  // A name without a folder would be looked for where the system's libraries are.
  const std::filesystem::path file = given.has_parent_path() ? given : std::filesystem::path(".") / given;
  void *library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return refuse(fmt::format("it cannot be loaded: {}", describe(::dlerror())));
  const auto *plugin = static_cast<const analyzer::Plugin *>(::dlsym(library, analyzer::kPluginSymbol));
  if (plugin == nullptr)
    return refuse(fmt::format("it has no symbol {}: end its source with MSL_ANALYZER of msleaks/analyzer.h",
                              analyzer::kPluginSymbol));
  if (plugin->version == 0 || plugin->version > analyzer::kAnalyzerVersion)
    return refuse(fmt::format("it was built for version {} of msleaks/analyzer.h, and this msleaks knows up to {}: "
                              "build it again with the header of this msleaks",
                              plugin->version, analyzer::kAnalyzerVersion));
  if (plugin->bytes < sizeof(analyzer::Plugin) || plugin->make == nullptr || plugin->destroy == nullptr ||
      !isName(plugin->name))
    return refuse("what it says of itself makes no sense (a name of letters, digits, `_` and `-`, make and destroy): "
                  "end its source with MSL_ANALYZER of msleaks/analyzer.h");
  return AnalyzerLibrary(plugin, given.string());
}

LoadedAnalyzers loadAnalyzers(const std::vector<std::string> &files) {
  LoadedAnalyzers loaded;
  for (const std::string &file : files) {
    auto library = AnalyzerLibrary::load(file);
    if (!library) {
      loaded.refusals.push_back(library.error().message);
      continue;
    }
    const std::string_view name = library->plugin().name;
    const auto same = std::find_if(loaded.libraries.begin(), loaded.libraries.end(),
                                   [&](const AnalyzerLibrary &other) { return other.plugin().name == name; });
    if (same == loaded.libraries.end())
      loaded.libraries.push_back(std::move(*library));
    else
      loaded.refusals.push_back(
          refusalOf(file, fmt::format("'{}' is called {}, too: give one of them another name", same->file(), name)));
  }
  return loaded;
}

} // namespace msleaks::analysis
