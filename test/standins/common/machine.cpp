#include "machine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace standin {

size_t fromEnvironment(const char *name, size_t otherwise) {
  const char *text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

namespace {

// The hidden memory of the devices, and the number of Access objects.
struct Hidden {
  std::mutex mutex;
  std::map<void *, size_t> memories;
  unsigned accesses = 0;
  // Makes the system call directly, so that no hook sees it: the program has not made this call.
  void protect(int protection) {
    for (const auto &[begin, bytes] : memories)
      syscall(SYS_mprotect, begin, bytes, protection);
  }
};
Hidden &hidden() {
  static auto *const made = new Hidden;
  return *made;
}

} // namespace

Access::Access() {
  const std::lock_guard lock(hidden().mutex);
  if (hidden().accesses++ == 0)
    hidden().protect(PROT_READ | PROT_WRITE);
}
Access::~Access() {
  const std::lock_guard lock(hidden().mutex);
  if (--hidden().accesses == 0)
    hidden().protect(PROT_NONE);
}

// The memory is a mapped file, like a driver's memory, so its pages do not count as the host's memory.
Memory::Memory(size_t bytes, bool is_hidden)
    : bytes_(bytes), file_(open(P_tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes)) != 0)
    std::abort();
  begin_ = static_cast<char *>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0));
  if (begin_ == MAP_FAILED)
    std::abort();
  holes_[0] = bytes;
  if (!is_hidden)
    return;
  const std::lock_guard lock(hidden().mutex);
  hidden().memories[begin_] = bytes;
  hidden().protect(hidden().accesses != 0 ? PROT_READ | PROT_WRITE : PROT_NONE);
}

Memory::~Memory() {
  {
    const std::lock_guard lock(hidden().mutex);
    hidden().memories.erase(begin_);
  }
  munmap(begin_, bytes_);
  close(file_);
}

bool Memory::showAt(void *address, const void *from, size_t bytes) const {
  const auto offset = static_cast<const char *>(from) - begin_;
  return holds(from) &&
         mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, offset) != MAP_FAILED;
}

void *Memory::allocate(size_t bytes) {
  const std::lock_guard lock(mutex_);
  const size_t wanted = std::max<size_t>(bytes + kAlignment - 1, kAlignment) / kAlignment * kAlignment;
  const auto hole = std::find_if(holes_.begin(), holes_.end(), [&](const auto &at) { return at.second >= wanted; });
  if (wanted < bytes || hole == holes_.end())
    return nullptr;
  const auto [offset, size] = *hole;
  holes_.erase(hole);
  if (size > wanted)
    holes_[offset + wanted] = size - wanted;
  blocks_[offset] = wanted;
  return begin_ + offset;
}

bool Memory::release(void *block) {
  const std::lock_guard lock(mutex_);
  if (!holds(block))
    return false;
  const auto found = blocks_.find(static_cast<size_t>(static_cast<char *>(block) - begin_));
  if (found == blocks_.end())
    return false;
  auto [offset, size] = *found;
  blocks_.erase(found);
  if (const auto behind = holes_.find(offset + size); behind != holes_.end()) {
    size += behind->second;
    holes_.erase(behind);
  }
  if (auto before = holes_.lower_bound(offset); before != holes_.begin())
    if (--before; before->first + before->second == offset) {
      before->second += size;
      return true;
    }
  holes_[offset] = size;
  return true;
}

void Memory::releaseAll() {
  std::vector<void *> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto &[offset, bytes] : blocks_)
      all.push_back(begin_ + offset);
  }
  for (void *block : all)
    release(block);
}

bool Memory::holds(const void *address) const {
  const auto *at = static_cast<const char *>(address);
  return at >= begin_ && at < begin_ + bytes_;
}

size_t Memory::free() const {
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const auto &[offset, size] : holes_)
    bytes += size;
  return bytes;
}

bool Locked::add(const void *begin) {
  const std::lock_guard lock(mutex_);
  return begins_.insert(begin).second;
}
bool Locked::remove(const void *begin) {
  const std::lock_guard lock(mutex_);
  return begins_.erase(begin) != 0;
}

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

void Stream::run(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (kept_ != nullptr)
      return kept_->push_back(std::move(work));
    if (!thread_.joinable())
      thread_ = std::thread([this] { loop(); });
    work_.push(std::move(work));
  }
  changed_.notify_all();
}

void Stream::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return work_.empty() && !busy_; });
}

void Stream::keep(std::vector<std::function<void()>> *kept) {
  const std::lock_guard lock(mutex_);
  kept_ = kept;
}

void Stream::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || !work_.empty(); });
    if (work_.empty())
      return;
    const std::function<void()> work = std::move(work_.front());
    work_.pop();
    busy_ = true;
    lock.unlock();
    {
      const Access access;
      work();
    }
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

Machine::Machine() : pinned_(fromEnvironment("STANDIN_DEVICE_BYTES", 64 << 20)) {
  const size_t count = fromEnvironment("STANDIN_DEVICES", 2);
  for (size_t i = 0; i < count; ++i) {
    devices_.push_back(std::make_unique<Memory>(fromEnvironment("STANDIN_DEVICE_BYTES", 64 << 20),
                                                fromEnvironment("STANDIN_HIDDEN", 0) != 0));
    devices_.back()->allocate(kContextBytes);
  }
}

void Machine::bus(unsigned ordinal, char *text, int bytes) const {
  std::snprintf(text, static_cast<size_t>(bytes), "0000:%02x:00.0", count() - ordinal);
}
size_t Machine::inUseAt(size_t bus) const {
  if (bus == 0 || bus > devices_.size())
    return 0;
  const Memory &memory = *devices_[devices_.size() - bus];
  return memory.total() - memory.free();
}

bool Machine::release(void *block) {
  return pinned_.release(block) ||
         std::any_of(devices_.begin(), devices_.end(), [block](const auto &memory) { return memory->release(block); });
}

} // namespace standin
