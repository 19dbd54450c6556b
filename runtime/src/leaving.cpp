#include "msleaks/runtime/leaving.h"

#include "arena.h"
#include "ring.h"
#include "system.h"

#include <cstring>

// Reports programs that msleaks cannot record (leaving.h). Except __msl_attach, the functions acquire no locks, since
// the caller may be a vfork's child or a signal handler.
namespace msleaks::runtime {
namespace {

constexpr uint32_t kNoTicket = 0, kInArena = 1, kFirstListed = 2;

uint32_t listUnfollowed(uint32_t pid, const char *program) noexcept {
  abi::UnseenPage *page = session.unseen;
  if (__atomic_load_n(&session.control, __ATOMIC_ACQUIRE) == nullptr || page == nullptr)
    return kNoTicket;
  const uint32_t index = page->count.fetch_add(1, std::memory_order_relaxed);
  if (index >= abi::kMaxUnseen)
    return kNoTicket;
  abi::UnseenProcess &process = page->processes[index];
  const char *slash = std::strrchr(program, '/');
  std::strncpy(process.name, slash != nullptr ? slash + 1 : program, sizeof process.name - 1);
  process.pid = pid;
  process.error = abi::kUnfollowed;
  process.ready.store(1, std::memory_order_release);
  return kFirstListed + index;
}

// Returns the header of this process's arena. In a vfork's child, which shares its parent's arena but has another pid,
// returns null.
abi::ArenaHeader *ownArena() noexcept {
  const Arena *arena = __msl_process.arena;
  return arena != nullptr && arena->header->pid == processId() ? arena->header : nullptr;
}

} // namespace
} // namespace msleaks::runtime

using namespace msleaks;
using namespace msleaks::runtime;

void __msl_attach() noexcept {
  const ErrnoKept kept;
  ensureAttached(__msl_thread);
}

uint32_t __msl_leaving(const char *program, bool followed) noexcept {
  if (abi::ArenaHeader *header = ownArena()) {
    header->leaving.store(1, std::memory_order_release);
    return kInArena;
  }
  return followed ? kNoTicket : listUnfollowed(processId(), program);
}

void __msl_stayed(uint32_t ticket) noexcept {
  if (ticket == kInArena)
    if (abi::ArenaHeader *header = ownArena())
      header->leaving.store(0, std::memory_order_release);
  if (ticket >= kFirstListed)
    session.unseen->processes[ticket - kFirstListed].error = abi::kStayed;
}

void __msl_unfollowed(uint32_t pid, const char *program) noexcept { listUnfollowed(pid, program); }
