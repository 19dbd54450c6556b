// msleaks plugin: prints the path of the compiler plugin, for -fpass-plugin=.
#include "verb.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <vector>

namespace msleaks::tools {
namespace {

namespace fs = std::filesystem;

struct Plugin {
  unsigned llvm;
  fs::path path;
};

// Finds all plugins lib/msleaks/llvm-<version>/libMemPass.so beside this program's folder bin/, in a build folder and
// in any installation. Returns the plugin of the newest LLVM first.
std::vector<Plugin> installedPlugins() {
  std::error_code error;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  std::vector<Plugin> plugins;
  for (const fs::directory_entry &entry : fs::directory_iterator(prefix / "lib/msleaks", error)) {
    constexpr std::string_view kFolder = "llvm-";
    const std::string name = entry.path().filename();
    Plugin plugin{0, entry.path() / "libMemPass.so"};
    if (name.starts_with(kFolder))
      std::from_chars(name.data() + kFolder.size(), name.data() + name.size(), plugin.llvm);
    if (plugin.llvm != 0 && fs::exists(plugin.path, error))
      plugins.push_back(plugin);
  }
  std::sort(plugins.begin(), plugins.end(), [](const Plugin &a, const Plugin &b) { return a.llvm > b.llvm; });
  return plugins;
}

// Whether the file is an ELF file. Otherwise clang would print an error of dlopen for each compiled file.
bool isSharedObject(const fs::path &path) {
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) == "\177ELF";
}

Result<ExitStatus> printPlugin(unsigned llvm) {
  const std::vector<Plugin> plugins = installedPlugins();
  if (plugins.empty())
    return fail("this installation has no compiler plugin", ExitStatus::OwnFault);
  const auto found = llvm == 0 ? plugins.begin()
                               : std::find_if(plugins.begin(), plugins.end(),
                                              [&](const Plugin &plugin) { return plugin.llvm == llvm; });
  if (found == plugins.end()) {
    std::string versions;
    for (const Plugin &plugin : plugins)
      versions += (versions.empty() ? "" : ", ") + std::to_string(plugin.llvm);
    return fail("there is no plugin for LLVM " + std::to_string(llvm) + " here, only for " + versions,
                ExitStatus::Usage);
  }
  if (!isSharedObject(found->path))
    return fail(found->path.native() + " cannot be read as a shared library; install msleaks again",
                ExitStatus::OwnFault);
  std::cout << found->path.native() << '\n';
  return ExitStatus::Clean;
}

Action declarePlugin(CommandLine &line) {
  const auto llvm = std::make_shared<unsigned>(0);
  line.option("--llvm", *llvm, "names the major version of the clang that loads the plugin [the newest one]");
  return [llvm] { return printPlugin(*llvm); };
}

} // namespace

MSL_REGISTER_VERB(plugin, "prints the path of the compiler plugin, for clang's option -fpass-plugin", declarePlugin)

} // namespace msleaks::tools
