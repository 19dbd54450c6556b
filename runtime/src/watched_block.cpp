#include "watched_block.h"

#include "system.h"

#include "msleaks/abi/symbol.h"
#include "msleaks/runtime/thread.h"

#include <atomic>
#include <cstring>
#include <sys/uio.h>

namespace msleaks::runtime {
namespace {

// Reads memory through /proc/self/mem, for a container that forbids process_vm_readv.
bool readFile(uint64_t address, void *to, uint64_t bytes) noexcept {
  const OpenFile memory("/proc/self/mem", O_RDONLY);
  return memory && callKernel(SYS_pread64, memory.fd(), to, bytes, address) == static_cast<long>(bytes);
}

// The known drivers of OpenCL. A driver is identified by the first word of its objects, which points to its functions.
constinit std::atomic<uint64_t> drivers[4]{};

bool isHandle(uint64_t address) noexcept {
  uint64_t word = 0;
  if (!readHost(address, &word, sizeof word))
    return false;
  for (const auto &driver : drivers)
    if (word != 0 && driver.load(std::memory_order_relaxed) == word)
      return true;
  return false;
}

void compare(const char *now, char *before, uint64_t offset, uint64_t bytes, Difference &difference) noexcept {
  if (std::memcmp(now, before, bytes) == 0)
    return;
  uint64_t first = 0, end = bytes;
  while (now[first] == before[first])
    ++first;
  while (now[end - 1] == before[end - 1])
    --end;
  if (difference.empty())
    difference.begin = offset + first;
  difference.end = offset + end;
  std::memcpy(before, now, bytes);
}

// While an object of this class exists, isForLook() is true for this memory. Create it with the lock of the list held.
class LookInto {
public:
  LookInto(const char *to, uint64_t bytes) noexcept {
    const auto begin = reinterpret_cast<uint64_t>(to);
    set(begin, begin + bytes);
  }
  ~LookInto() { set(0, 0); }
  LookInto(const LookInto &) = delete;
  LookInto &operator=(const LookInto &) = delete;

private:
  static void set(uint64_t begin, uint64_t end) noexcept {
    __atomic_store_n(&__msl_process.look_begin, begin, __ATOMIC_RELAXED);
    __atomic_store_n(&__msl_process.look_end, end, __ATOMIC_RELAXED);
  }
};

} // namespace

// The kernel copies the memory. So if the block was unmapped, the result is an error and not a signal.
bool readHost(uint64_t address, void *to, uint64_t bytes) noexcept {
  const iovec here{to, bytes}, there{reinterpret_cast<void *>(address), bytes};
  const long count = callKernel(SYS_process_vm_readv, processId(), &here, 1, &there, 1, 0);
  if (count < 0 && errno != EFAULT)
    return readFile(address, to, bytes);
  return count == static_cast<long>(bytes);
}

Where whereIs(uint64_t address, uint64_t bytes) noexcept {
  if (isHandle(address))
    return Where::Handle;
  char last;
  return readHost(address, &last, 1) && readHost(address + bytes - 1, &last, 1) ? Where::Host : Where::Device;
}

void noteHandle(uint64_t handle) noexcept {
  uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const void *>(handle), sizeof word);
  for (auto &driver : drivers) {
    uint64_t known = driver.load(std::memory_order_relaxed);
    if (known == word || (known == 0 && driver.compare_exchange_strong(known, word)) || known == word)
      return;
  }
}

bool WatchedBlock::isReadableBy(const Reader &reader) const noexcept {
  return reader.device != nullptr && (where == Where::Handle) == (reader.family == abi::Family::OpenCl) &&
         (!is_known || family == reader.family);
}

bool WatchedBlock::read(const Reader &reader, uint64_t offset, char *to, uint64_t bytes_wanted) const noexcept {
  if (where == Where::Host)
    return readHost(address + offset, to, bytes_wanted);
  const LookInto into(to, bytes_wanted);
  return reader.device->read(reader.stream, reinterpret_cast<const void *>(address), offset, bytes_wanted, to) == 0;
}

bool WatchedBlock::look(const Reader &reader, char *scratch, uint64_t scratch_bytes, Difference &difference) noexcept {
  if (where != Where::Host && !isReadableBy(reader))
    return false;
  for (uint64_t offset = 0; offset < bytes; offset += scratch_bytes) {
    const uint64_t rest = bytes - offset, part = rest < scratch_bytes ? rest : scratch_bytes;
    if (!read(reader, offset, is_known ? scratch : content + offset, part))
      return false;
    if (is_known)
      compare(scratch, content + offset, offset, part, difference);
  }
  family = reader.family;
  is_known = true;
  ++looks;
  return true;
}

} // namespace msleaks::runtime
