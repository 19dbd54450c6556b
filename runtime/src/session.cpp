#include "session.h"

#include "chosen_steps.h"
#include "system.h"

#include "msleaks/abi/guarded.h"
#include "msleaks/abi/process_status.h"
#include "msleaks/runtime/page.h"

#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>

extern char **environ;

namespace {
constinit const std::atomic<uint32_t> kUndecided{~uint32_t{0}};
constinit const std::atomic<uint32_t> kInert{0};
} // namespace

constinit const std::atomic<uint32_t> *__msl_enabled = &kUndecided;

namespace msleaks::runtime {

constinit Session session{};

namespace {

// Returns the value of "NAME=value", or null if NAME is not `name`.
const char *valueIn(const char *entry, std::string_view name) noexcept {
  return std::strncmp(entry, name.data(), name.size()) == 0 && entry[name.size()] == '=' ? entry + name.size() + 1
                                                                                         : nullptr;
}

// Reads the environment when libc has not set `environ` yet: the dynamic linker calls a preloaded malloc before libc is
// ready.
void readKernelEnvironment(std::string_view name, PathText &value_text) noexcept {
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
      if (const char *value = valueIn(entry.c_str(), name); value != nullptr && entry.fits()) {
        value_text << value;
        return;
      }
      entry.clear();
    }
    if (count < sizeof block)
      return;
  }
}

void readEnvironment(std::string_view name, PathText &value_text) noexcept {
  if (environ == nullptr)
    return readKernelEnvironment(name, value_text);
  for (char **entry = environ; *entry != nullptr; ++entry)
    if (const char *value = valueIn(*entry, name)) {
      value_text << value;
      return;
    }
}

// Returns the size of a file. The dynamic linker has also made this system call, so a seccomp filter of this process
// allows it.
uint64_t sizeOf(const OpenFile &file) noexcept {
  struct stat status;
  return callKernel(SYS_newfstatat, file.fd(), "", &status, AT_EMPTY_PATH) == 0 ? static_cast<uint64_t>(status.st_size)
                                                                                : 0;
}

// Maps a file of one page in the session's directory. Returns null if the file is too small: touching a page beyond its
// end would raise SIGBUS.
void *mapPage(const char *name, uint64_t least_bytes, bool writable) noexcept {
  PathText &path = session.scratch;
  path = session.directory;
  path << "/" << name;
  const OpenFile file(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW);
  if (!file || !path.fits() || sizeOf(file) < least_bytes)
    return nullptr;
  return mapMemory(abi::kHeaderBytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file.fd());
}

const abi::ControlPage *mapControl() noexcept {
  const auto *page = static_cast<const abi::ControlPage *>(mapPage(abi::kControlFile, sizeof(abi::ControlPage), false));
  if (page == nullptr)
    return nullptr;
  const bool ours = page->magic == abi::ControlPage::kMagic && page->session_version == abi::kSessionVersion &&
                    page->state.load(std::memory_order_acquire) == abi::SessionState::Open;
  if (ours)
    return page;
  callKernel(SYS_munmap, page, abi::kHeaderBytes);
  return nullptr;
}

abi::UnseenPage *mapUnseen() noexcept {
  auto *page = static_cast<abi::UnseenPage *>(mapPage(abi::kUnseenFile, sizeof(abi::UnseenPage), true));
  return page != nullptr && page->magic == abi::UnseenPage::kMagic ? page : nullptr;
}

// The collector's last heartbeat at the time when this process gave up on the collector.
constinit std::atomic<uint64_t> dead_heartbeat_ns{0};

} // namespace

bool collectorGone() noexcept {
  const abi::ControlPage &control = *session.control;
  return (control.collector_thread.load(std::memory_order_relaxed) & abi::kOwnerGone) != 0 ||
         control.state.load(std::memory_order_relaxed) != abi::SessionState::Open ||
         control.heartbeat_ns.load(std::memory_order_relaxed) == dead_heartbeat_ns.load(std::memory_order_relaxed);
}

bool mayTake(uint64_t bytes) noexcept {
  if (!collectorGone())
    return true;
  if (session.unseen == nullptr || session.unseen->orphan_kib.load(std::memory_order_relaxed) >= abi::kMaxOrphanKib)
    return false;
  // A request beyond the limit still counts. So no process gets the remaining room.
  const auto kib = static_cast<uint32_t>(bytes >> 10);
  return session.unseen->orphan_kib.fetch_add(kib, std::memory_order_relaxed) + kib <= abi::kMaxOrphanKib;
}

bool waitsForCollector() noexcept {
  return __atomic_load_n(&session.control, __ATOMIC_ACQUIRE) != nullptr && collectorGone() && !mayTake(0);
}

void giveUp(uint64_t heartbeat_ns) noexcept { dead_heartbeat_ns.store(heartbeat_ns, std::memory_order_relaxed); }

namespace {

// Returns a new entry of the list of unseen processes, or null if the list is full or does not exist.
abi::UnseenProcess *newUnseen() noexcept {
  if (session.unseen == nullptr)
    return nullptr;
  const uint32_t index = session.unseen->count.fetch_add(1, std::memory_order_relaxed);
  return index < abi::kMaxUnseen ? &session.unseen->processes[index] : nullptr;
}

void tellUnseen(abi::UnseenProcess &process, uint32_t pid, int32_t error) noexcept {
  process.pid = pid;
  process.error = error;
  process.ready.store(1, std::memory_order_release);
}

constinit char status_file[4096]{};

void listSandboxed(std::string_view status) noexcept {
  abi::UnseenProcess *process = newUnseen();
  if (process == nullptr)
    return;
  const std::string_view name = abi::statusValue(status, "Name");
  std::memcpy(process->name, name.data(), name.size() < sizeof process->name ? name.size() : sizeof process->name - 1);
  tellUnseen(*process, abi::statusNumber(status, "Pid"), abi::kSandboxed);
}

} // namespace

void countUnseen(int error) noexcept {
  abi::UnseenProcess *process = newUnseen();
  if (process == nullptr)
    return;
  callKernel(SYS_prctl, PR_GET_NAME, process->name, 0, 0, 0);
  tellUnseen(*process, processId(), error);
}

void countUnseenChild(uint32_t ancestor_pid) noexcept {
  if (abi::UnseenProcess *process = newUnseen())
    tellUnseen(*process, ancestor_pid, abi::kChildOfSandboxed);
}

void becomeInert() noexcept { __atomic_store_n(&__msl_enabled, &kInert, __ATOMIC_RELEASE); }

bool isInert() noexcept { return __atomic_load_n(&__msl_enabled, __ATOMIC_ACQUIRE) == &kInert; }

// Whether `msleaks verify` traces this program. `msleaks verify` installs a seccomp filter that reports system calls to
// the tracer and forbids none.
bool isTraced() noexcept {
  session.directory.clear();
  readEnvironment(abi::kGuardVariable, session.directory);
  readEnvironment(abi::kTellVariable, session.directory);
  return session.directory.size() > 0;
}

// A seccomp filter may forbid any system call that the process has not made yet. So this function uses only system
// calls that the dynamic linker has made to load libraries.
bool beginsSandboxed() noexcept {
  std::string_view status;
  if (const OpenFile file("/proc/self/status", O_RDONLY); file)
    status = {status_file, file.read(status_file, sizeof status_file)};
  const uint32_t filters = abi::seccompFilters(status);
  if (filters == 0 || isTraced())
    return false;
  session.directory.clear();
  readEnvironment(abi::kSessionVariable, session.directory);
  const abi::ControlPage *control = session.directory.size() > 0 && session.directory.fits() ? mapControl() : nullptr;
  if (control != nullptr && filters <= control->seccomp_filters)
    return false;
  if (control != nullptr) {
    session.unseen = mapUnseen();
    listSandboxed(status);
  }
  becomeInert();
  return true;
}

bool findSession() noexcept {
  if (session.control != nullptr)
    return true;
  if (session.page_bytes == 0)
    session.page_bytes = pageBytes();
  session.directory.clear(); // a fork may have interrupted an earlier search
  // A setuid program has more rights than the user who starts it. So it must not write to a folder that this user has
  // chosen.
  if (::getauxval(AT_SECURE) == 0)
    readEnvironment(abi::kSessionVariable, session.directory);
  if (session.directory.size() > 0 && session.directory.fits())
    if (const abi::ControlPage *control = mapControl()) {
      session.unseen = mapUnseen();
      __atomic_store_n(&session.control, control, __ATOMIC_RELEASE);
    }
  if (session.control == nullptr)
    return false;
  __atomic_store_n(&__msl_enabled, wordBeforeSteps(*session.control), __ATOMIC_RELEASE);
  return true;
}

} // namespace msleaks::runtime
