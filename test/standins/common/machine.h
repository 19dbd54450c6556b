// Imitates a machine with accelerators: devices with a fixed amount of memory, and streams that run their work in
// order, each on its own thread. The stand-ins for closed drivers (../README.md) add a vendor's functions.
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

// The memory of one device, or page-locked host memory. Blocks are parts of one reservation, so a block is never in the
// host's heap. As on a real device, an access past the end of a block can access the next block.
class Memory {
public:
  // If the memory is hidden, the host can access it only while an object of class Access exists.
  explicit Memory(size_t bytes, bool is_hidden = false);
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  void *allocate(size_t bytes); // null: no hole is large enough
  bool release(void *block);    // false: `block` is no block
  void releaseAll();
  bool holds(const void *address) const;
  // Maps the memory from the page at `from` on at another address, too. Both addresses then refer to the same bytes.
  bool showAt(void *address, const void *from, size_t bytes) const;
  size_t total() const { return bytes_; }
  size_t free() const;

private:
  static constexpr size_t kAlignment = 256;
  mutable std::mutex mutex_;
  size_t bytes_;
  int file_;
  char *begin_ = nullptr;
  std::map<size_t, size_t> holes_;  // offset and size
  std::map<size_t, size_t> blocks_; // offset and size
};

// While an object of this class exists, hidden memory is accessible.
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
  bool add(const void *begin); // false: the memory is locked already
  bool remove(const void *begin);

private:
  std::mutex mutex_;
  std::set<const void *> begins_;
};

// Runs work in order. The thread starts with the first work, so a library whose streams are unused can be unloaded.
class Stream {
public:
  ~Stream(); // waits until all work has run
  void run(std::function<void()> work);
  void wait();
  // From now on, work is stored in `kept` and does not run. If `kept` is null, work runs again.
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

// By default there are 2 devices with 64 MiB each ($STANDIN_DEVICES, $STANDIN_DEVICE_BYTES). A context uses
// kContextBytes of a device. With $STANDIN_HIDDEN the host cannot access the devices' memory, as on a real device.
inline constexpr size_t kContextBytes = 3 << 20;
// Returns the number in an environment variable that a test may set, or else `otherwise`.
size_t fromEnvironment(const char *name, size_t otherwise);
class Machine {
public:
  Machine();
  unsigned count() const { return static_cast<unsigned>(devices_.size()); }
  Memory &device(unsigned ordinal) { return *devices_[ordinal]; }
  Memory &pinned() { return pinned_; } // page-locked host memory
  bool release(void *block);           // releases a block of any of the memories
  Locked &locked() { return locked_; }
  Stream &defaultStream() { return default_stream_; }
  // Writes a device's bus number as text, such as "0000:02:00.0". The numbers are in the opposite order of the devices.
  void bus(unsigned ordinal, char *text, int bytes) const;
  size_t inUseAt(size_t bus) const; // 0: there is no such device

private:
  std::vector<std::unique_ptr<Memory>> devices_;
  Memory pinned_;
  Locked locked_;
  Stream default_stream_;
};

} // namespace standin
