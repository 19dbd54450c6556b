// An imitated accelerator: devices with memory of a fixed size, and streams that run work in order on threads
// of their own. The stand-ins for closed drivers (../README.md) put a vendor's functions in front of it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <set>
#include <thread>
#include <vector>

namespace standin {

// The memory of one device. Blocks are cut from one reservation, so an address belongs to one device and never to the
// host's heap. An access behind the end is one in the next block, as on a real one.
class Memory {
public:
  // Hidden: the host may touch it only while there is an Access.
  explicit Memory(size_t bytes, bool is_hidden = false);
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  void *allocate(size_t bytes); // null: no hole is large enough
  bool release(void *block);    // false: it is no block
  bool holds(const void *address) const;
  // The same memory at another address, from a page of it on.
  bool showAt(void *address, const void *from, size_t bytes) const;
  size_t total() const { return bytes_; }
  size_t free() const;

private:
  static constexpr size_t kAlignment = 256;
  mutable std::mutex mutex_;
  size_t bytes_;
  int file_;
  char *begin_ = nullptr;
  std::map<size_t, size_t> holes_;  // by offset
  std::map<size_t, size_t> blocks_; // the same
};

// Lets the device use its hidden memory, as long as the object lives.
class Access {
public:
  Access();
  ~Access();
  Access(const Access &) = delete;
  Access &operator=(const Access &) = delete;
};

// Memory of the host whose pages a driver has locked.
class Locked {
public:
  bool add(const void *begin); // false: it is locked already
  bool remove(const void *begin);

private:
  std::mutex mutex_;
  std::set<const void *> begins_;
};

// Work in order, on a thread that begins with the first: a library of which nothing runs may be unloaded.
class Stream {
public:
  ~Stream(); // behind all of it
  void run(std::function<void()> work);
  void wait();
  // Later work is kept there, and not done; null: it is done again.
  void keep(std::vector<std::function<void()>> *kept);

private:
  void loop();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<std::function<void()>> work_;
  std::vector<std::function<void()>> *kept_ = nullptr;
  bool busy_ = false, ends_ = false;
  std::thread thread_;
};

// $STANDIN_DEVICES (2) of $STANDIN_DEVICE_BYTES (64 MiB) each, of which a context takes kContextBytes. With
// $STANDIN_HIDDEN their memory is hidden from the host, as it is on a real one.
inline constexpr size_t kContextBytes = 3 << 20;
// A number that a test sets.
size_t fromEnvironment(const char *name, size_t otherwise);
class Machine {
public:
  Machine();
  unsigned count() const { return static_cast<unsigned>(devices_.size()); }
  Memory &device(unsigned ordinal) { return *devices_[ordinal]; }
  Memory &pinned() { return pinned_; } // of the host, page-locked
  bool release(void *block);           // wherever it is
  Locked &locked() { return locked_; }
  Stream &defaultStream() { return default_stream_; }
  // Devices stand on the bus in the opposite order of their numbers, from 1 on. "0000:02:00.0"
  void bus(unsigned ordinal, char *text, int bytes) const;
  size_t inUseAt(size_t bus) const; // 0: there is none

private:
  std::vector<std::unique_ptr<Memory>> devices_;
  Memory pinned_;
  Locked locked_;
  Stream default_stream_;
};

} // namespace standin
