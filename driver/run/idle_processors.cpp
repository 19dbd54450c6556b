#include "run/idle_processors.h"

#include "analysis/base/machine.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace msleaks::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGroups = "/sys/fs/cgroup";

// Returns the first word of a file, or an empty text.
std::string wordIn(const fs::path &file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

// Whether `f` returns true for the folder of a control group or for one of its parent folders. Each group may have a
// quota.
template <class F> bool anyGroup(fs::path group, const F &f) {
  for (; group.native().size() >= kGroups.size(); group = group.parent_path())
    if (f(group))
      return true;
  return false;
}

bool hasQuota(const std::string &line) {
  const size_t first = line.find(':'), second = line.find(':', first + 1);
  if (second == std::string::npos)
    return false;
  const std::string controllers = line.substr(first + 1, second - first - 1);
  const std::string path = line.substr(second + 2); // the path without its first slash
  if (controllers.empty())                          // a line of version 2 of control groups
    return anyGroup(fs::path(kGroups) / path, [](const fs::path &group) {
      const std::string quota = wordIn(group / "cpu.max");
      return !quota.empty() && quota != "max";
    });
  if ((',' + controllers + ',').find(",cpu,") == std::string::npos)
    return false;
  return anyGroup(fs::path(kGroups) / controllers / path, [](const fs::path &group) {
    const std::string quota = wordIn(group / "cpu.cfs_quota_us");
    return !quota.empty() && quota != "-1";
  });
}

} // namespace

bool mayUseIdleProcessors() {
  if (analysis::usableProcessors() < 2)
    return false;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (hasQuota(line))
      return false;
  return true;
}

} // namespace msleaks::driver
