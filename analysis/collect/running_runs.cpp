#include "analysis/collect/running_runs.h"

#include "analysis/base/run_folder.h"
#include "analysis/reach/mapping.h"
#include "msleaks/abi/session.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace msleaks::analysis::inline collect {
namespace {

namespace fs = std::filesystem;

// Returns the collector's pid from the session's control page; the collector may have ended. 0: this is no session of
// the user.
uint32_t collectorOf(const fs::path &session) {
  const auto file = openFile(session / abi::kControlFile, Access::Read);
  if (!file)
    return 0;
  struct stat owner{};
  if (fstat(file->get(), &owner) != 0 || owner.st_uid != getuid())
    return 0;
  const auto page = Mapping::map(*file, 0, abi::kHeaderBytes, Access::Read);
  if (!page || page->at<abi::ControlPage>(0)->magic != abi::ControlPage::kMagic)
    return 0;
  return page->at<abi::ControlPage>(0)->collector_pid;
}

// Returns the run folder whose trace the process has open, and whose manifest names this session. Another process with
// the same pid would not have it open, so the collector is alive. Empty: there is no such folder.
fs::path folderOf(uint32_t collector, const fs::path &session) {
  std::error_code ended;
  for (fs::directory_iterator entry(fmt::format("/proc/{}/fd", collector), ended), end; !ended && entry != end;
       entry.increment(ended)) {
    std::error_code closed;
    const fs::path target = fs::read_symlink(entry->path(), closed);
    if (closed || target.filename() != kTraceFile)
      continue;
    const auto folder = RunFolder::open(target.parent_path());
    if (!folder)
      continue;
    const auto manifest = folder->readManifest();
    if (manifest && manifest->session_dir == session.string())
      return folder->path();
  }
  return {};
}

// Returns TIME of "msleaks-UID-PID-TIME": when the session began. It is hexadecimal, and has the same length for the
// next centuries.
std::string beginOf(const fs::path &session) {
  const std::string name = session.filename().string();
  return name.substr(name.rfind('-') + 1);
}

} // namespace

Collecting howItStands(const fs::path &run) {
  const auto folder = RunFolder::open(run);
  if (!folder)
    return Collecting::GoesOn;
  const auto manifest = folder->readManifest();
  if (!manifest)
    return Collecting::GoesOn;
  if (manifest->state != "running")
    return Collecting::Ended;
  const auto file = openFile(fs::path(manifest->session_dir) / abi::kControlFile, Access::Read);
  if (!file)
    return errno == ENOENT ? Collecting::Orphaned : Collecting::GoesOn;
  const auto page = Mapping::map(*file, 0, abi::kHeaderBytes, Access::Read);
  if (!page || page->at<abi::ControlPage>(0)->magic != abi::ControlPage::kMagic)
    return Collecting::GoesOn;
  const auto *control = page->at<abi::ControlPage>(0);
  const bool gone = (control->collector_thread.load(std::memory_order_relaxed) & abi::kOwnerGone) != 0;
  return gone || control->state.load(std::memory_order_relaxed) != abi::SessionState::Open ? Collecting::Orphaned
                                                                                           : Collecting::GoesOn;
}

Result<fs::path> newestRunningRun(const fs::path &shared_memory) {
  const std::string ours = fmt::format("msleaks-{}-", getuid());
  std::vector<fs::path> sessions;
  std::error_code unreadable;
  for (fs::directory_iterator entry(shared_memory, unreadable), end; !unreadable && entry != end;
       entry.increment(unreadable))
    if (entry->path().filename().string().starts_with(ours))
      sessions.push_back(entry->path());
  std::sort(sessions.begin(), sessions.end(),
            [](const fs::path &left, const fs::path &right) { return beginOf(left) > beginOf(right); });
  for (const fs::path &session : sessions)
    if (const uint32_t collector = collectorOf(session))
      if (fs::path folder = folderOf(collector, session); !folder.empty())
        return folder;
  return fail("no session of yours is running; name the folder of a run");
}

} // namespace msleaks::analysis::inline collect
