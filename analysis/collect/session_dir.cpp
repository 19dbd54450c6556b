#include "analysis/collect/session_dir.h"

#include "analysis/base/machine.h"
#include "analysis/collect/control_socket.h"
#include "analysis/collect/kernel.h"
#include "msleaks/abi/selected_events.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <new>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace msleaks::analysis::inline collect {
namespace {

namespace fs = std::filesystem;

// Room for a handful of busy threads and for other data of a process.
uint64_t wantedBytes(const abi::Flags &flags) { return uint64_t{flags.ring_max_kib} * 1024 * 4 + (uint64_t{16} << 20); }

constexpr char kUnfinishedControl[] = "control.new";

std::string reason() { return std::strerror(errno); }

// Returns why the directory has not enough room; empty: it has.
std::string missingRoom(const fs::path &directory, uint64_t wanted) {
  struct statvfs room{};
  if (statvfs(directory.c_str(), &room) != 0)
    return fmt::format("{}: {}", directory.string(), reason());
  const uint64_t available = uint64_t{room.f_bavail} * room.f_frsize;
  if (available < wanted)
    return fmt::format("{} has {} MiB free, a session wants {}", directory.string(), available >> 20, wanted >> 20);
  return {};
}

std::vector<fs::path> filesOf(const fs::path &directory, const char *suffix) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == suffix)
      files.push_back(entry->path());
  return files;
}

tl::unexpected<Error> cannot(const char *step, const fs::path &file) {
  return fail(fmt::format("{}: cannot {}: {}", file.string(), step, reason()), ExitStatus::OwnFault);
}

// Creates a file of one page. The page is really allocated, so that a full file system is an error here, and not a
// SIGBUS in the user's program.
Result<Mapping> makePage(const fs::path &path, FileDescriptor &file) {
  file = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid())
    return cannot("create", path);
  if (const int error = posix_fallocate(file.get(), 0, abi::kHeaderBytes); error != 0) {
    errno = error;
    return cannot("allocate", path);
  }
  return Mapping::map(file, 0, abi::kHeaderBytes, Access::ReadWrite);
}

} // namespace

fs::path SessionDir::propose(const fs::path &shared_memory) {
  return shared_memory / fmt::format("msleaks-{}-{}-{:x}", getuid(), getpid(), readRealtimeNs());
}

Result<SessionDir> SessionDir::create(const SessionWish &wish) {
  SessionDir session;
  session.path_ = wish.place;
  std::string lacking = missingRoom(wish.place.parent_path(), wantedBytes(wish.flags));
  if (lacking.empty() && mkdir(wish.place.c_str(), 0700) != 0)
    lacking = fmt::format("{}: {}", wish.place.string(), reason());
  if (!lacking.empty()) {
    if (mkdir(wish.fallback.c_str(), 0700) != 0)
      return fail(fmt::format("no place for shared memory: {}; {}: {}", lacking, wish.fallback.string(), reason()),
                  ExitStatus::OwnFault);
    session.path_ = wish.fallback;
    session.note_ = fmt::format("{}: using {} instead, recording may be slower", lacking, wish.fallback.string());
  }
  if (auto made = session.makeControl(wish); !made) {
    session.remove();
    return tl::make_unexpected(made.error());
  }
  return session;
}

Result<void> SessionDir::makeControl(const SessionWish &wish) {
  const fs::path file = path_ / abi::kControlFile;
  const fs::path unfinished = path_ / kUnfinishedControl;
  if (auto made = makeUnseen(); !made) // made before `control`, which shows that the session is ready
    return made;
  auto page = MSL_TRY(makePage(unfinished, control_));
  page_ = std::move(page);
  if (flock(control_.get(), LOCK_EX | LOCK_NB) != 0)
    return cannot("lock", file);
  auto *control = new (page_.bytes()) abi::ControlPage{};
  control->magic = abi::ControlPage::kMagic;
  control->session_version = abi::kSessionVersion;
  control->collector_pid = static_cast<uint32_t>(getpid());
  control->clock = wish.clock;
  control->flags = wish.flags;
  control->watch = wish.watch;
  control->seccomp_filters = ownSeccompFilters();
  if (wish.counts_folder.size() < sizeof control->counts_folder)
    std::memcpy(control->counts_folder, wish.counts_folder.data(), wish.counts_folder.size());
  if (wish.kernel_compiler.size() < sizeof control->kernel_compiler)
    std::memcpy(control->kernel_compiler, wish.kernel_compiler.data(), wish.kernel_compiler.size());
  control->state.store(abi::SessionState::Open, std::memory_order_relaxed);
  const uint32_t selected = abi::enabledFor(wish.enabled, wish.flags.call_stack);
  control->selected.store(selected, std::memory_order_relaxed);
  abi::ChosenSteps &chosen = *new (&chosenStepsOf(*control)) abi::ChosenSteps{};
  chosen.count = std::min<uint32_t>(static_cast<uint32_t>(wish.steps.size()), abi::ChosenSteps::kMost);
  std::copy_n(wish.steps.begin(), chosen.count, chosen.numbers);
  abi::ChosenDevices &devices = *new (&chosenDevicesOf(*control)) abi::ChosenDevices{};
  devices.accelerators = wish.devices.accelerators;
  devices.host = wish.devices.host;
  devices.is_restricted = wish.devices.isRestricted();
  enable(*control, wish.paused ? 0 : selected);
  if (rename(unfinished.c_str(), file.c_str()) != 0)
    return cannot("rename", file);
  return {};
}

Result<void> SessionDir::makeUnseen() {
  FileDescriptor file;
  auto page = MSL_TRY(makePage(path_ / abi::kUnseenFile, file));
  unseen_ = std::move(page);
  (new (unseen_.bytes()) abi::UnseenPage{})->magic = abi::UnseenPage::kMagic;
  return {};
}

// Without this page, a session is still recovered.
void SessionDir::openUnseen() {
  const auto file = openFile(path_ / abi::kUnseenFile, Access::ReadWrite);
  if (!file)
    return;
  auto page = Mapping::map(*file, 0, abi::kHeaderBytes, Access::ReadWrite);
  if (page && page->at<abi::UnseenPage>(0)->magic == abi::UnseenPage::kMagic)
    unseen_ = std::move(*page);
  if (unseen_.bytes())
    unseen_.at<abi::UnseenPage>(0)->orphan_kib.store(0, std::memory_order_relaxed);
}

Result<SessionDir> SessionDir::adopt(const fs::path &directory) {
  SessionDir session;
  session.path_ = directory;
  const fs::path file = directory / abi::kControlFile;
  auto control = MSL_TRY(openFile(file, Access::ReadWrite));
  session.control_ = std::move(control);
  auto page = Mapping::map(session.control_, 0, abi::kHeaderBytes, Access::ReadWrite);
  if (!page)
    return fail(fmt::format("{}: {}", file.string(), page.error().message));
  session.page_ = std::move(*page);
  if (session.control().magic != abi::ControlPage::kMagic)
    return fail(fmt::format("{}: not the control page of a session", file.string()));
  if (session.control().session_version != abi::kSessionVersion)
    return fail(fmt::format("{}: made by version {}, this is {}", file.string(), session.control().session_version,
                            abi::kSessionVersion));
  if (flock(session.control_.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(fmt::format("{}: still recorded by msleaks-run, pid {}; nothing to recover", directory.string(),
                            session.control().collector_pid),
                ExitStatus::OwnFault);
  session.openUnseen();
  return session;
}

std::vector<fs::path> SessionDir::arenas() const { return filesOf(path_, kRingsSuffix); }

uint32_t pidOfArena(const fs::path &file) {
  uint32_t pid = 0;
  const std::string name = file.filename().string();
  std::from_chars(name.data(), name.data() + name.size(), pid); // the name is "PID.TICKS.rings" (runtime/src/arena.cpp)
  return pid;
}

bool SessionDir::changed() {
  struct stat facts{};
  if (stat(path_.c_str(), &facts) != 0)
    return false;
  const uint64_t mtime =
      static_cast<uint64_t>(facts.st_mtim.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(facts.st_mtim.tv_nsec);
  if (mtime == seen_mtime_ns_)
    return false;
  // The kernel's time stamps have steps of some ms. A file that is created in the same step as this look would not
  // change the stamp again.
  constexpr uint64_t kStampNs = 20'000'000;
  if (const uint64_t now = readRealtimeNs(); now > mtime + kStampNs || now + kStampNs < mtime)
    seen_mtime_ns_ = mtime;
  return true;
}

void SessionDir::removeArena(const fs::path &arena) {
  std::error_code ignored;
  fs::path definitions = arena;
  definitions.replace_extension(kDefinitionsSuffix);
  fs::remove(arena, ignored);
  fs::remove(definitions, ignored);
}

void SessionDir::removeUnfinished(const fs::path &directory) {
  std::error_code ignored;
  fs::remove(directory / kUnfinishedControl, ignored);
  if (!fs::exists(directory / abi::kControlFile, ignored))
    fs::remove(directory / abi::kUnseenFile, ignored);
  fs::remove(directory, ignored); // fails if the directory contains anything else
}

// Removes only files that a session has made, because `recover` trusts a manifest that names this directory.
void SessionDir::remove() {
  std::error_code ignored;
  for (const fs::path &arena : arenas())
    removeArena(arena);
  for (const auto &definitions : filesOf(path_, kDefinitionsSuffix)) // of arenas that do not exist
    fs::remove(definitions, ignored);
  if (fs::is_symlink(path_ / kLibraryLink, ignored))
    fs::remove(path_ / kLibraryLink, ignored);
  for (const char *file : {kWatchedFile, kSumsFile, kUnfinishedSums})
    fs::remove(path_ / file, ignored);
  fs::remove(path_ / kControlSocket, ignored);
  fs::remove(path_ / abi::kControlFile, ignored);
  removeUnfinished(path_);
}

} // namespace msleaks::analysis::inline collect
