#include "analysis/run/output_folder.h"

#include "analysis/base/file_access.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace msleaks::analysis {

namespace fs = std::filesystem;
using trace::cannot;

namespace {

// The folder above those that are missing, and their names from the outermost on.
struct Missing {
  FileDescriptor above;
  std::vector<std::string> names;
};

tl::unexpected<Error> refuse(const fs::path &folder, const std::string &reason) {
  return fail(fmt::format("refusing to write to '{}': {}", folder.string(), reason), ExitStatus::Usage);
}

FileDescriptor openFolder(int above, const char *name, int more_flags) {
  return FileDescriptor(::openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | more_flags));
}

Result<Missing> findMissing(const fs::path &folder) {
  Missing missing;
  missing.names = {folder.filename().string()};
  for (fs::path above = folder.parent_path();; above = above.parent_path()) {
    missing.above = openFolder(AT_FDCWD, above.empty() ? "." : above.c_str(), 0);
    if (missing.above.valid())
      return missing;
    if (errno != ENOENT || above.empty() || above == above.root_path())
      return cannot("open", above, errno);
    missing.names.insert(missing.names.begin(), above.filename().string());
  }
}

// A link, or somebody else's folder, that came between the check of the path and the mkdir.
Result<void> checkOurs(const FileDescriptor &made, const fs::path &folder) {
  struct stat status{};
  if (!made.valid() && (errno == ELOOP || errno == ENOTDIR))
    return refuse(folder, "it is a symbolic link: name the place that it points to");
  if (!made.valid() || ::fstat(made.get(), &status) != 0)
    return cannot("open", folder, errno);
  if (status.st_uid != ::geteuid())
    return refuse(folder, fmt::format("it belongs to user {}: choose another name", status.st_uid));
  return {};
}

Result<void> checkEmpty(const FileDescriptor &made, const fs::path &folder) {
  DIR *entries = ::fdopendir(::openat(made.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!entries)
    return cannot("look into", folder, errno);
  bool empty = true;
  while (const dirent *entry = ::readdir(entries))
    empty = empty && (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0);
  ::closedir(entries);
  if (!empty)
    return refuse(folder, "it is not empty: choose another name, or remove it");
  return {};
}

// One that was there already may be open to everybody; it is never opened further.
Result<void> restrict(const FileDescriptor &made, const fs::path &folder, mode_t mode) {
  struct stat status{};
  if (::fstat(made.get(), &status) != 0 || ::fchmod(made.get(), status.st_mode & mode) != 0)
    return cannot("set the mode of", folder, errno);
  return {};
}

} // namespace

Result<FileDescriptor> makeOutputFolder(const fs::path &folder, mode_t mode) {
  auto missing = MSL_TRY(findMissing(folder));
  FileDescriptor at = std::move(missing.above);
  for (const std::string &name : missing.names) {
    if (::mkdirat(at.get(), name.c_str(), mode) != 0 && errno != EEXIST)
      return cannot("create", folder, errno);
    FileDescriptor next = openFolder(at.get(), name.c_str(), O_NOFOLLOW);
    MSL_TRY(checkOurs(next, folder));
    at = std::move(next);
  }
  MSL_TRY(checkEmpty(at, folder));
  MSL_TRY(restrict(at, folder, mode));
  return at;
}

} // namespace msleaks::analysis
