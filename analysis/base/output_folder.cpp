#include "analysis/base/output_folder.h"

#include "analysis/base/path_check.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace msleaks::analysis::inline base {

namespace fs = std::filesystem;

constexpr mode_t kOutputFolderMode = 0750, kOutputFileMode = 0640;

Result<std::unique_ptr<OutputFolder>> OutputFolder::create(const fs::path &given) {
  MSL_TRY(checkOutputFolder(given));
  const fs::path path = given.has_filename() ? given : given.parent_path(); // "folder/"
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_empty(path, error))
    return fail(
        fmt::format("refusing to write to '{}': it is not empty: choose another name, or remove it", path.string()),
        ExitStatus::Usage);
  // A writer that was killed may have left a folder with this name. Then tries the next number.
  for (int attempt = 0;; ++attempt) {
    fs::path temporary = path.parent_path() / fmt::format(".{}.{}-{}", path.filename().string(), ::getpid(), attempt);
    if (::mkdir(temporary.c_str(), kOutputFolderMode) == 0) {
      FileDescriptor folder(::open(temporary.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
      if (!folder.valid())
        return cannot("open", path, errno);
      return std::unique_ptr<OutputFolder>(new OutputFolder(path, std::move(temporary), std::move(folder)));
    }
    if (errno != EEXIST || attempt == 1000)
      return cannot("create", path, errno);
  }
}

OutputFolder::~OutputFolder() {
  files_.clear();
  std::error_code error;
  if (!temporary_.empty())
    fs::remove_all(temporary_, error);
}

Result<int> OutputFolder::folderOf(const fs::path &name) {
  const fs::path parent = name.parent_path();
  if (parent.empty())
    return folder_.get();
  FileDescriptor &folder = inside_[parent];
  if (folder.valid())
    return folder.get();
  fs::path made;
  for (const fs::path &part : parent) {
    made /= part;
    if (::mkdirat(folder_.get(), made.c_str(), kOutputFolderMode) != 0 && errno != EEXIST)
      return cannot("create", path_ / made, errno);
  }
  folder = FileDescriptor(::openat(folder_.get(), parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!folder.valid())
    return cannot("open", path_ / parent, errno);
  return folder.get();
}

std::ostream &OutputFolder::file(std::string_view name) {
  const auto folder = folderOf(name);
  auto made = folder ? OutputFile::create(path_ / name, *folder) : tl::make_unexpected(folder.error());
  if (made)
    return files_.emplace_back(std::move(*made));
  refuse(made.error());
  return bad_;
}

fs::path OutputFolder::place(std::string_view name) {
  const auto make = [&]() -> Result<void> {
    const int folder = MSL_TRY(folderOf(name));
    const fs::path inside = fs::path(name).filename();
    const FileDescriptor file(
        ::openat(folder, inside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kOutputFileMode));
    return file.valid() ? Result<void>() : cannot("create", path_ / name, errno);
  };
  if (const auto made = make(); !made)
    refuse(made.error());
  return temporary_ / name;
}

void OutputFolder::refuse(Error error) {
  if (made_)
    made_ = tl::make_unexpected(std::move(error));
}

Result<void> OutputFolder::written() const {
  for (const OutputStream &file : files_)
    if (made_ && !file.written())
      return file.written();
  return made_;
}

// rename() replaces a folder only if it is empty.
Result<void> OutputFolder::commit() {
  MSL_TRY(written());
  for (OutputStream &file : files_)
    MSL_TRY(file.commit());
  files_.clear();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
    return cannot("write", path_, errno);
  temporary_.clear();
  return {};
}

} // namespace msleaks::analysis::inline base
