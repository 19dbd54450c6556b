// Changes the owner of a process's files in the session when a root process becomes another user, as servers do.
// Otherwise the process could no longer open these files.
#include "msleaks/runtime/leaving.h"

#include "counters.h"
#include "ring.h"
#include "system.h"

#include <sys/stat.h>

namespace msleaks::runtime {
namespace {

uint32_t ownerOf(const char *path) noexcept {
  struct stat status;
  return callKernel(SYS_newfstatat, AT_FDCWD, path, &status, 0) == 0 ? status.st_uid : UINT32_MAX;
}

constexpr uint32_t kSame = UINT32_MAX;

void giveFile(const PathText &path, uint32_t user) noexcept {
  if (path.size() != 0)
    callKernel(SYS_fchownat, AT_FDCWD, path.c_str(), user, kSame, AT_SYMLINK_NOFOLLOW);
}

void setMode(const char *file, unsigned mode) noexcept {
  PathText &path = session.scratch;
  path = session.directory;
  path << "/" << file;
  callKernel(SYS_fchmodat, AT_FDCWD, path.c_str(), mode);
}

// Allows the process to make files in the session's folder after it has become another user. The process stays in its
// group. So the group gets the permission to create files, but not to replace files of other users.
void openFolder() noexcept {
  constexpr unsigned kGroupAddsFiles = 01730;
  const long group = callKernel(SYS_getegid);
  if (callKernel(SYS_fchownat, AT_FDCWD, session.directory.c_str(), kSame, group, AT_SYMLINK_NOFOLLOW) == 0)
    setMode("", kGroupAddsFiles);
}

// Makes the session's files usable for the new user. The files that all processes share become accessible to all users.
// But only root and the group can enter the folder.
void giveSession(const Arena &arena, uint32_t user) noexcept {
  setMode(abi::kControlFile, 0644);
  setMode(abi::kUnseenFile, 0666);
  giveFile(arena.rings_path, user);
  if (arena.definitions_made)
    giveFile(arena.defs_path, user);
  if (const Counting *counting = __msl_process.counting)
    giveFile(counting->file.path, user);
  openFolder();
}

} // namespace
} // namespace msleaks::runtime

using namespace msleaks::runtime;

void __msl_becomes_user(uint32_t user) noexcept {
  const ErrnoKept kept;
  constexpr uint32_t kRoot = 0;
  if (user == kRoot || callKernel(SYS_geteuid) != kRoot)
    return;
  ensureAttached(__msl_thread);
  const ArenaHeld held;
  const Arena *arena = held.arena();
  // Only a folder that belongs to root needs this. A vfork's child changes nothing, since it shares its parent's arena.
  if (arena != nullptr && arena->header->pid == processId() && ownerOf(session.directory.c_str()) == kRoot)
    giveSession(*arena, user);
}
