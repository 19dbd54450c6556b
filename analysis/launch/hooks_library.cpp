#include "analysis/launch/hooks_library.h"

#include "analysis/launch/program.h"
#include "analysis/launch/sanitizer.h"

#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace msleaks::analysis {

namespace fs = std::filesystem;

namespace {
constexpr char kHooksLibrary[] = "libmsleaks_hooks.so";
constexpr char kAscendName[] = "libascend_kernel_hook.so";

// torch_npu and MindSpore tell of their pools only where LD_PRELOAD names a library of this name. Where CANN is, one
// with nothing in it does.
void addAscendName(const std::string &hooks, std::vector<std::string> &libraries) {
  const bool is_there = std::getenv("ASCEND_HOME_PATH") != nullptr || std::getenv("ASCEND_TOOLKIT_HOME") != nullptr;
  const fs::path library = fs::path(hooks).parent_path() / kAscendName;
  if (is_there && access(library.c_str(), R_OK) == 0)
    libraries.push_back(library.string());
}
} // namespace

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
  addAscendName(hooks, libraries);
  libraries.insert(libraries.end(), others.begin(), others.end());
  return libraries;
}

} // namespace msleaks::analysis
