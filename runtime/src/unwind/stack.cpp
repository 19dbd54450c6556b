#include "unwind/stack.h"

#include "system.h"

#include "msleaks/runtime/page.h"

namespace msleaks::runtime::unwind {
namespace {

constexpr uint64_t kMaxPagesAtOnce = 4096; // with pages of 4 KiB, a frame may have 16 MiB

uint64_t pageOf(uint64_t address) noexcept { return address & ~(pageBytes() - 1); }

} // namespace

// Calls rt_sigprocmask with an invalid operation. The kernel first reads the signal set at `address`: if the page is
// not mapped, it returns EFAULT. The kernel would not read a set at address 0.
bool isReadable(uint64_t address) noexcept {
  if (!mayCallKernel())
    return false;
  const ErrnoKept kept;
  constexpr int kNothing = -1;
  return address >= pageBytes() && address >> 56 == 0 &&
         (callKernel(SYS_rt_sigprocmask, kNothing, pageOf(address), nullptr, sizeof(uint64_t)) == 0 || errno != EFAULT);
}

// Extends the part that is known to be mapped, upwards and page by page. All memory between the stack pointer and a
// frame's words is stack.
bool Stack::extend(uint64_t at) noexcept {
  if (at % sizeof(uint64_t) != 0 || at < end_ || at - end_ >= kMaxPagesAtOnce * pageBytes())
    return false;
  while (end_ <= at) {
    if (!isReadable(end_))
      return false;
    end_ += pageBytes();
  }
  return true;
}

// Sets the part that is known to be mapped, for a new stack pointer. The page of the stack pointer is certainly mapped.
// If the stack has grown downwards, the earlier part stays known if all pages between are mapped.
void Stack::move(uint64_t stack_pointer) noexcept {
  const uint64_t page = pageOf(stack_pointer);
  if (page >= begin_ || begin_ - page > kMaxPagesAtOnce * pageBytes()) {
    begin_ = page;
    end_ = page + pageBytes();
    return;
  }
  for (uint64_t below = page + pageBytes(); below < begin_; below += pageBytes())
    if (!isReadable(below)) {
      end_ = below;
      break;
    }
  begin_ = page;
}

} // namespace msleaks::runtime::unwind
