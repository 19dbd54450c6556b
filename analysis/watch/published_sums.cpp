#include "analysis/watch/published_sums.h"

#include "analysis/base/files.h"
#include "analysis/base/machine.h"
#include "analysis/collect/session_dir.h"
#include "analysis/watch/session_sums.h"

#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace msleaks::analysis::inline watch {

SumsPublisher::SumsPublisher(std::filesystem::path session) : session_(std::move(session)) {
  constexpr timespec kNever[2] = {};
  for (const char *name : {kSumsFile, kWatchedFile}) {
    const FileDescriptor file(::open((session_ / name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (file.valid())
      futimens(file.get(), kNever);
  }
}

bool SumsPublisher::isWatched() const {
  struct stat facts{};
  if (stat((session_ / kWatchedFile).c_str(), &facts) != 0)
    return false;
  const uint64_t touched_ns =
      static_cast<uint64_t>(facts.st_mtim.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(facts.st_mtim.tv_nsec);
  return readRealtimeNs() < touched_ns + kWatchedNs;
}

void SumsPublisher::offer(const RunningReport &running) {
  const uint64_t now_ns = readMonotonicNs();
  if (now_ns < next_ns_)
    return;
  next_ns_ = now_ns + (isWatched() && write(running) ? kWriteNs : kLookNs);
}

// Writes to a temporary name first, so that a reader always gets a whole file.
bool SumsPublisher::write(const RunningReport &running) const {
  const auto bytes = encode(sumsOf(running), running.analysis().catalog);
  if (!bytes)
    return false;
  const std::filesystem::path unfinished = session_ / kUnfinishedSums;
  {
    const FileDescriptor file(::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file.valid() || ::write(file.get(), bytes->data(), bytes->size()) != static_cast<ssize_t>(bytes->size()))
      return false;
  }
  return std::rename(unfinished.c_str(), (session_ / kSumsFile).c_str()) == 0;
}

namespace {

constexpr uint64_t kMostBytes = 64 << 20; // enough for some million places

} // namespace

bool SumsWatcher::touch() const {
  const FileDescriptor file(::open((session_ / kWatchedFile).c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  return file.valid() && futimens(file.get(), nullptr) == 0;
}

// Reads the file. Returns whether it was new.
bool SumsWatcher::read() {
  const std::filesystem::path file = session_ / kSumsFile;
  struct stat facts{};
  if (stat(file.c_str(), &facts) != 0)
    return false;
  const uint64_t modified_ns =
      static_cast<uint64_t>(facts.st_mtim.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(facts.st_mtim.tv_nsec);
  if (facts.st_ino == inode_ && modified_ns == modified_ns_)
    return false;
  const auto opened = InputFile::open(file);
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
  if (is_first) // written for an earlier watcher, at an unknown time
    bytes_.clear();
  return now_ns - heard_ns_ < kSilentNs;
}

} // namespace msleaks::analysis::inline watch
