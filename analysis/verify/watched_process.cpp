#include "analysis/verify/watched_process.h"

#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

constexpr size_t kMostTextBytes = 4096; // of a name, as the runtime has it

uint64_t pageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

} // namespace

uint64_t readMemory(pid_t process, uint64_t address, std::span<std::byte> to) {
  const iovec here{to.data(), to.size()}, there{reinterpret_cast<void *>(address), to.size()};
  const ssize_t got = process_vm_readv(process, &here, 1, &there, 1, 0);
  return got > 0 ? static_cast<uint64_t>(got) : 0;
}

// Page by page: behind it may be nothing.
std::string textAt(pid_t process, uint64_t address) {
  std::string text;
  while (address != 0 && text.size() < kMostTextBytes) {
    char piece[256];
    const uint64_t most = std::min<uint64_t>(sizeof piece, pageBytes() - address % pageBytes());
    const uint64_t got = readMemory(process, address, std::as_writable_bytes(std::span(piece, most)));
    const size_t length = strnlen(piece, got);
    text.append(piece, length);
    if (length < got || got == 0)
      break;
    address += got;
  }
  return text.substr(0, kMostTextBytes);
}

WatchedBlock::Read WatchingProcess::reading() const {
  return [this](uint64_t address, std::span<std::byte> to) { return readMemory(pid, address, to); };
}

} // namespace msleaks::analysis
