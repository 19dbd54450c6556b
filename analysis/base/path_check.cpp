#include "analysis/base/path_check.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace msleaks::analysis::inline base {

namespace fs = std::filesystem;

namespace {

// Shows a path in a message. Characters that a terminal would execute become escapes.
std::string shown(std::string_view path) {
  std::string text;
  for (const char c : path.substr(0, 200))
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\xc2')
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      text += c;
  return path.size() > 200 ? text + "…" : text;
}

Result<void> refusePath(const fs::path &path, std::string_view reason) {
  return fail(fmt::format("refusing to write to '{}': {}", shown(path.string()), reason), ExitStatus::Usage);
}

bool hasControlCharacter(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool c1 = c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c < 0x20 || c == 0x7f || c1)
      return true;
  }
  return false;
}

// "a/b/" and "a/b/." mean the folder a/b.
fs::path withoutTrailingSlash(const fs::path &path) {
  const fs::path normal = path.lexically_normal();
  return normal.has_filename() || normal == normal.root_path() ? normal : normal.parent_path();
}

// Checks the folder that contains `path`, because a user who may write there could put a link in place of `path`. If
// that folder does not exist yet, checks the nearest existing folder above it.
Result<void> checkParent(const fs::path &path) {
  fs::path parent = withoutTrailingSlash(path).parent_path();
  struct stat folder{};
  for (;; parent = parent.parent_path()) {
    if (parent.empty())
      parent = ".";
    if (::stat(parent.c_str(), &folder) == 0)
      break;
    if (errno != ENOENT)
      return refusePath(path, fmt::format("'{}': {}", shown(parent.string()), std::strerror(errno)));
    if (parent == "." || parent == parent.root_path())
      return {}; // our own current folder was removed
  }
  if (!S_ISDIR(folder.st_mode))
    return refusePath(path, fmt::format("'{}' is not a folder", shown(parent.string())));
  if ((folder.st_mode & S_IWOTH) && !(folder.st_mode & S_ISVTX))
    return refusePath(path,
                      fmt::format("every user may replace what is in '{}': choose another folder, or chmod o-w it",
                                  shown(parent.string())));
  if (::access(parent.c_str(), W_OK | X_OK) != 0)
    return refusePath(path, fmt::format("'{}': {}: choose a folder that you may write to", shown(parent.string()),
                                        std::strerror(errno)));
  return {};
}

Result<void> checkExisting(const fs::path &path, const struct stat &found, mode_t type, const char *wanted) {
  if (S_ISLNK(found.st_mode))
    return refusePath(path, "it is a symbolic link: name the place that it points to");
  if ((found.st_mode & S_IFMT) != type)
    return refusePath(path, fmt::format("it exists and is not a {}: choose another name", wanted));
  if (found.st_uid != ::geteuid())
    return refusePath(path, fmt::format("it belongs to user {}: choose another name", found.st_uid));
  if (found.st_mode & S_IWOTH)
    return refusePath(path, "every user may write to it: chmod o-w it, or choose another name");
  return {};
}

Result<void> checkOutput(const fs::path &given, mode_t type, const char *wanted) {
  MSL_TRY(checkName(given));
  const fs::path path = withoutTrailingSlash(given);
  struct stat found{};
  if (::lstat(path.c_str(), &found) == 0)
    MSL_TRY(checkExisting(path, found, type, wanted));
  return checkParent(path);
}

} // namespace

Result<void> checkName(const fs::path &path) {
  // Leaves room for a temporary name, and for names of files in a folder.
  constexpr size_t kRoom = 64;
  const std::string text = path.string();
  if (text.empty())
    return fail("the path to write to is empty: name a file or folder", ExitStatus::Usage);
  if (text.size() > PATH_MAX - kRoom)
    return refusePath(path,
                      fmt::format("the path has {} bytes, at most {} can be used", text.size(), PATH_MAX - kRoom));
  if (hasControlCharacter(text))
    return refusePath(path, "it contains control characters: a terminal that shows it would execute them");
  for (const fs::path &component : path) {
    const std::string name = component.string();
    if (name.size() > NAME_MAX - kRoom)
      return refusePath(
          path, fmt::format("a name in it has {} bytes, at most {} can be used", name.size(), NAME_MAX - kRoom));
    if (!name.empty() && std::strchr("=+-@", name[0]))
      return refusePath(
          path, fmt::format("'{}' begins with '{}', which spreadsheets execute and programs take for an option: "
                            "choose another name",
                            shown(name), name[0]));
  }
  return {};
}

Result<void> checkOutputFolder(const fs::path &path) { return checkOutput(path, S_IFDIR, "folder"); }

Result<void> checkOutputFile(const fs::path &path) {
  if (!path.has_filename())
    return refusePath(path, "it names a folder: name a file");
  return checkOutput(path, S_IFREG, "regular file");
}

} // namespace msleaks::analysis::inline base
