#include "analysis/base/output.h"

#include "analysis/base/files.h"
#include "analysis/base/path_check.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline base {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = 64 << 10;

Result<OutputFile> OutputFile::create(const fs::path &path, int folder) {
  if (folder == AT_FDCWD)
    MSL_TRY(checkOutputFile(path));
  // A writer that was killed may have left a file with this name. Then tries the next number.
  for (int attempt = 0;; ++attempt) {
    const fs::path name = fmt::format(".{}.{}-{}", path.filename().string(), ::getpid(), attempt);
    const fs::path temporary = folder == AT_FDCWD ? path.parent_path() / name : name;
    FileDescriptor file(
        ::openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640));
    if (file.valid())
      return OutputFile(std::move(file), folder, path, temporary);
    if (errno != EEXIST || attempt == 1000)
      return cannot("create", path, errno);
  }
}

OutputFile::OutputFile(FileDescriptor file, int folder, fs::path path, fs::path temporary)
    : file_(std::move(file)), folder_(folder), path_(std::move(path)), temporary_(std::move(temporary)) {}

OutputFile &OutputFile::operator=(OutputFile &&other) noexcept {
  if (this != &other) {
    abandon();
    file_ = std::move(other.file_);
    folder_ = other.folder_;
    path_ = std::move(other.path_);
    temporary_ = std::move(other.temporary_);
    buffer_ = std::move(other.buffer_);
  }
  return *this;
}

OutputFile::~OutputFile() { abandon(); }

fs::path OutputFile::target() const { return folder_ == AT_FDCWD ? path_ : path_.filename(); }

void OutputFile::abandon() {
  if (!file_.valid())
    return;
  file_.close();
  ::unlinkat(folder_, temporary_.c_str(), 0);
}

Result<void> OutputFile::write(std::string_view content) {
  buffer_ += content;
  return buffer_.size() < kBufferBytes ? Result<void>{} : flush();
}

Result<void> OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t count = ::write(file_.get(), rest.data(), rest.size());
    if (count > 0)
      rest.remove_prefix(static_cast<size_t>(count));
    else if (errno != EINTR)
      return cannot("write", path_, errno);
  }
  buffer_.clear();
  return {};
}

Result<void> OutputFile::commit() {
  MSL_TRY(flush());
  // Some file systems report a full disk only at close().
  if (::close(file_.release()) != 0 || ::renameat(folder_, temporary_.c_str(), folder_, target().c_str()) != 0) {
    const int error = errno;
    ::unlinkat(folder_, temporary_.c_str(), 0);
    return cannot("write", path_, error);
  }
  return {};
}

Error ofOutput(Error error) {
  if (error.status == ExitStatus::BadInput)
    error.status = ExitStatus::OwnFault;
  return error;
}

namespace fs = std::filesystem;

namespace {

// The innermost folder that exists, and the names of the missing folders below it, outermost first.
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

// Detects a link, or another user's folder, that somebody made after the check of the path.
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

// Removes the folder's rights beyond `mode`, since the folder may have existed before. Never adds rights.
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

std::streamsize OutputStream::Buffer::xsputn(const char *text, std::streamsize size) {
  if (written)
    written = file.write({text, static_cast<size_t>(size)});
  return written ? size : 0;
}

OutputStream::Buffer::int_type OutputStream::Buffer::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof()))
    return traits_type::not_eof(character);
  const char text = traits_type::to_char_type(character);
  return xsputn(&text, 1) == 1 ? character : traits_type::eof();
}

Result<void> OutputStream::commit() { return buffer_.written ? buffer_.file.commit() : buffer_.written; }

} // namespace msleaks::analysis::inline base
