#include "analysis/profiles/standard_input.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace msleaks::analysis::profiles {
namespace {

constexpr size_t kPieceBytes = 1 << 20;

// On the disk, or in memory where the folder of temporary files cannot have files without a name.
FileDescriptor namelessFile() {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  FileDescriptor file(error ? -1 : ::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
  return file.valid() ? std::move(file) : FileDescriptor(::memfd_create("standard input", MFD_CLOEXEC));
}

tl::unexpected<Error> cannotCopy() {
  return fail(fmt::format("cannot be copied to a temporary file ({}): name a file", std::strerror(errno)),
              ExitStatus::OwnFault);
}

Result<void> writeAll(int to, const char *piece, size_t size) {
  while (size > 0) {
    const ssize_t count = ::write(to, piece, size);
    if (count < 0 && errno != EINTR)
      return cannotCopy();
    piece += std::max<ssize_t>(count, 0);
    size -= static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
  return {};
}

} // namespace

Result<FileDescriptor> copyOfStandardInput() {
  if (::isatty(STDIN_FILENO) != 0)
    return fail("is a terminal: pipe a profile into it");
  FileDescriptor file = namelessFile();
  if (!file.valid())
    return cannotCopy();
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (count == 0)
      return file;
    if (count < 0 && errno != EINTR)
      return fail(fmt::format("cannot be read ({})", std::strerror(errno)));
    MSL_TRY(writeAll(file.get(), piece.data(), static_cast<size_t>(std::max<ssize_t>(count, 0))));
  }
}

} // namespace msleaks::analysis::profiles
