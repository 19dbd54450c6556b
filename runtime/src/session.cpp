#include "session.h"

#include "system.h"

#include "msleaks/runtime/page.h"

#include <sys/auxv.h>

extern char **environ;

namespace {
constinit const std::atomic<uint32_t> kUndecided{~uint32_t{0}};
constinit const std::atomic<uint32_t> kInert{0};
} // namespace

constinit const std::atomic<uint32_t> *__msl_enabled = &kUndecided;

namespace msleaks::runtime {

constinit Session session{};

namespace {

constexpr std::string_view kVariable = abi::kSessionVariable;

// "NAME=value" -> value, when NAME is the session's.
const char *valueIn(const char *entry) noexcept {
  return std::strncmp(entry, kVariable.data(), kVariable.size()) == 0 && entry[kVariable.size()] == '='
             ? entry + kVariable.size() + 1
             : nullptr;
}

// Before libc has set up `environ`: the dynamic linker already allocates through a preloaded malloc.
void readKernelEnvironment(PathText &directory) noexcept {
  const OpenFile file("/proc/self/environ", O_RDONLY);
  char block[512];
  PathText &entry = session.scratch;
  entry.clear();
  while (file) {
    const uint64_t count = file.read(block, sizeof block);
    for (uint64_t i = 0; i < count; ++i) {
      if (block[i] != 0) {
        entry << std::string_view(&block[i], 1);
        continue;
      }
      if (const char *value = valueIn(entry.c_str()); value != nullptr && entry.fits()) {
        directory << value;
        return;
      }
      entry.clear();
    }
    if (count < sizeof block)
      return;
  }
}

void readEnvironment(PathText &directory) noexcept {
  if (environ == nullptr)
    return readKernelEnvironment(directory);
  for (char **entry = environ; *entry != nullptr; ++entry)
    if (const char *value = valueIn(*entry)) {
      directory << value;
      return;
    }
}

const abi::ControlPage *mapControl() noexcept {
  PathText &path = session.scratch;
  path = session.directory;
  path << "/" << abi::kControlFile;
  const OpenFile file(path.c_str(), O_RDONLY | O_NOFOLLOW);
  // A page beyond the end of the file would be a SIGBUS.
  if (!file || !path.fits() ||
      ::syscall(SYS_lseek, file.fd(), 0, SEEK_END) < static_cast<long>(sizeof(abi::ControlPage)))
    return nullptr;
  const auto *page =
      static_cast<const abi::ControlPage *>(mapMemory(abi::kHeaderBytes, PROT_READ, MAP_SHARED, file.fd()));
  if (page == nullptr)
    return nullptr;
  const bool ours = page->magic == abi::ControlPage::kMagic && page->session_version == abi::kSessionVersion &&
                    page->state.load(std::memory_order_acquire) == abi::SessionState::Open;
  if (ours)
    return page;
  ::syscall(SYS_munmap, page, abi::kHeaderBytes);
  return nullptr;
}

} // namespace

void becomeInert() noexcept { __atomic_store_n(&__msl_enabled, &kInert, __ATOMIC_RELEASE); }

bool isInert() noexcept { return __atomic_load_n(&__msl_enabled, __ATOMIC_ACQUIRE) == &kInert; }

bool findSession() noexcept {
  if (session.control != nullptr)
    return true;
  if (session.page_bytes == 0)
    session.page_bytes = pageBytes();
  session.directory.clear(); // a fork may have come in the middle of this
  // A program with more rights than its caller must not write where its caller says.
  if (::getauxval(AT_SECURE) == 0)
    readEnvironment(session.directory);
  if (session.directory.size() > 0 && session.directory.fits())
    session.control = mapControl();
  if (session.control == nullptr)
    return false;
  __atomic_store_n(&__msl_enabled, &session.control->enabled, __ATOMIC_RELEASE);
  return true;
}

} // namespace msleaks::runtime
