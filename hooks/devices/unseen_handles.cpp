#include "devices/unseen_handles.h"

#include "counting/handle_table.h"

namespace msleaks::hooks {
namespace {

struct Unseen {
  Handle handle;
  uint32_t owners; // 0: released, but a mapping may return the handle again
  Unseen *next;
};
constinit Wiped<HandleTable<Unseen>> unseen;

bool hasUnseen() noexcept {
  const HandleTable<Unseen> *const handles = unseen.get();
  return handles != nullptr && handles->hasAny();
}

} // namespace

void keepUnseen(abi::Family family, uint64_t handle) noexcept {
  const CountedLock lock;
  HandleTable<Unseen> *const handles = lock ? unseen.make() : nullptr;
  if (handles == nullptr)
    return;
  if (Unseen *const known = handles->find(keyOf(family, handle)))
    ++known->owners;
  else
    handles->add({keyOf(family, handle), 1, nullptr});
}

bool isUnseen(abi::Family family, uint64_t handle) noexcept {
  if (!hasUnseen())
    return false;
  const CountedLock lock;
  return unseen.get()->find(keyOf(family, handle)) != nullptr;
}

void dropUnseen(abi::Family family, uint64_t handle) noexcept {
  const CountedLock lock;
  Unseen *const known = hasUnseen() ? unseen.get()->find(keyOf(family, handle)) : nullptr;
  if (known != nullptr && known->owners > 0)
    --known->owners;
}

void endUnseen(abi::Family family, uint64_t handle) noexcept {
  if (!hasUnseen())
    return;
  const CountedLock lock;
  unseen.get()->forget(keyOf(family, handle));
}

} // namespace msleaks::hooks
