#include "analysis/adapters/registry.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline adapters {
namespace {

constexpr size_t kHeadBytes = 1024;
constexpr char kStandardInput[] = "-";

} // namespace

#define MSL_ENTRY(stem) ProfileAdapter makeProfileAdapter_##stem();
#include "adapters.inc"
#undef MSL_ENTRY

std::vector<ProfileAdapter> profileAdapters() {
  return {
#define MSL_ENTRY(stem) makeProfileAdapter_##stem(),
#include "adapters.inc"
#undef MSL_ENTRY
  };
}

static Result<profiles::Profile> load(const InputFile &file, const std::string &name, ProfileLoading &loading) {
  std::array<uint8_t, kHeadBytes> bytes;
  const auto head = std::span(bytes).first(MSL_TRY(file.read(0, bytes)));
  std::string names;
  for (const ProfileAdapter &adapter : profileAdapters()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", adapter.name);
    if (!adapter.recognizes(head))
      continue;
    loading.format = adapter.name;
    auto profile = adapter.load(file, loading);
    if (!profile)
      return fail(fmt::format("'{}': {}", name, profile.error().message), profile.error().status);
    return profile;
  }
  return fail(fmt::format("'{}' is no profile of a known format; there are {}", name, names));
}

Result<profiles::Profile> loadProfile(const std::filesystem::path &path, ProfileLoading &loading) {
  if (path != kStandardInput)
    return load(MSL_TRY(InputFile::open(path)), path.string(), loading);
  const auto copy = copyOfStandardInput();
  if (!copy)
    return fail("the standard input " + copy.error().message, copy.error().status);
  return load(MSL_TRY(InputFile::open(fmt::format("/proc/self/fd/{}", copy->get()))), "standard input", loading);
}

namespace {

constexpr size_t kPieceBytes = 1 << 20;

// The file is on the disk. If the folder of temporary files does not support files without a name, the file is in
// memory.
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

} // namespace msleaks::analysis::inline adapters
