#include "analysis/launch/hooks_library.h"

#include "analysis/launch/program.h"
#include "analysis/launch/sanitizer.h"

#include <fmt/format.h>
#include <unistd.h>

namespace msleaks::analysis {

namespace fs = std::filesystem;

namespace {
constexpr char kHooksLibrary[] = "libmsleaks_hooks.so";
}

Result<std::string> findHooks(const fs::path &link) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path folder = self.parent_path().parent_path() / "lib";
  if (error || access((folder / kHooksLibrary).c_str(), R_OK) != 0)
    return fail(fmt::format("{}: not found", (folder / kHooksLibrary).string()));
  if (canPreload(folder))
    return (folder / kHooksLibrary).string();
  if (canPreload(link))
    fs::create_directory_symlink(folder, link, error);
  if (error || !canPreload(link))
    return fail(fmt::format("{}: LD_PRELOAD cannot name a path with a space or a colon{}", folder.string(),
                            error ? ", and a link to it cannot be made: " + error.message()
                                  : ", and neither can one in " + link.parent_path().string()));
  return (link / kHooksLibrary).string();
}

std::vector<std::string> preloadsFor(const fs::path &program, const std::string &hooks,
                                     const std::vector<std::string> &others) {
  std::vector<std::string> libraries = sanitizersOf(program);
  libraries.push_back(hooks);
  libraries.insert(libraries.end(), others.begin(), others.end());
  return libraries;
}

} // namespace msleaks::analysis
