#include "analysis/watch/sums_watcher.h"

#include "analysis/base/clock.h"
#include "analysis/base/file_access.h"
#include "analysis/collect/session_dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace msleaks::analysis {

namespace {

constexpr uint64_t kMostBytes = 64 << 20; // some million places

} // namespace

bool SumsWatcher::touch() const {
  const FileDescriptor file(::open((session_ / kWatchedFile).c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  return file.valid() && futimens(file.get(), nullptr) == 0;
}

// Whether there was something new.
bool SumsWatcher::read() {
  const std::filesystem::path file = session_ / kSumsFile;
  struct stat facts{};
  if (stat(file.c_str(), &facts) != 0)
    return false;
  const uint64_t modified_ns =
      static_cast<uint64_t>(facts.st_mtim.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(facts.st_mtim.tv_nsec);
  if (facts.st_ino == inode_ && modified_ns == modified_ns_)
    return false;
  const auto opened = trace::InputFile::open(file);
  if (!opened || opened->size() > kMostBytes)
    return false;
  std::vector<uint8_t> bytes(opened->size());
  if (!opened->readAll(0, bytes))
    return false;
  bytes_ = std::move(bytes);
  inode_ = facts.st_ino;
  modified_ns_ = modified_ns;
  return true;
}

bool SumsWatcher::look() {
  const uint64_t now_ns = readMonotonicNs();
  if (!touch())
    return false;
  const bool is_first = heard_ns_ == 0;
  if (read() || is_first)
    heard_ns_ = now_ns;
  if (is_first) // written for somebody before us, and nobody knows when
    bytes_.clear();
  return now_ns - heard_ns_ < kSilentNs;
}

} // namespace msleaks::analysis
