#include "core/loaded_images.h"

#include "msleaks/runtime/thread.h"

#include <new>

namespace msleaks::hooks {
namespace {

constexpr uint32_t kMost = LoadedImages::kMost, kNames = 4 * kMost, kMostNeeds = 8 * kMost;

// The notes are written only under the lock of dl_iterate_phdr. Nothing is allocated, because the caller may be the
// program's allocator.
struct Notes {
  alignas(LoadedImage) char images[kMost * sizeof(LoadedImage)];
  uint32_t count;
  uint16_t by_name[kNames];         // index + 1 of the first image of each name
  uint32_t needs_begin[kMost + 1];  // per image: where its entries in `needs` begin
  uint16_t needs[kMostNeeds];       // indices of images
  uint16_t queue[kMost];            // images that a walk still has to visit
  uint32_t queue_begin, queue_end;
  uint64_t visited[kMost / 64], users[kMost / 64];
};
Notes notes;
const runtime::Thread *reader = nullptr;
uint32_t start_count = 0;

bool isIn(const uint64_t *set, uint32_t index) noexcept { return (set[index / 64] >> index % 64 & 1) != 0; }
void add(uint64_t *set, uint32_t index) noexcept { set[index / 64] |= uint64_t{1} << index % 64; }
template <class Type, uint64_t kCount> void clear(Type (&array)[kCount]) noexcept {
  for (Type &one : array)
    one = 0;
}

const LoadedImage &imageAt(uint32_t index) noexcept {
  return *std::launder(reinterpret_cast<const LoadedImage *>(notes.images + index * sizeof(LoadedImage)));
}

bool hasName(const LoadedImage &image, const char *name) noexcept {
  return isSameText(image.path(), name) || isSameText(image.fileName(), name) ||
         (image.ownName() != nullptr && isSameText(image.ownName(), name));
}

// Returns the slot of the image with this name, or a free slot.
uint16_t &placeOf(const char *name) noexcept {
  uint32_t at = SymbolName(name).gnu_hash % kNames;
  while (notes.by_name[at] != 0 && !hasName(imageAt(notes.by_name[at] - 1u), name))
    at = (at + 1) % kNames;
  return notes.by_name[at];
}

int takeImage(dl_phdr_info *object, size_t, void *) noexcept {
  if (notes.count == kMost)
    return 1;
  new (notes.images + notes.count++ * sizeof(LoadedImage)) LoadedImage(*object);
  return 0;
}

struct Use {
  void (*function)(void *, LoadedImages &);
  void *argument;
  bool is_done;
};

int useAll(dl_phdr_info *, size_t, void *argument) noexcept {
  auto &use = *static_cast<Use *>(argument);
  // This thread holds the lock. So another thread in `reader` is one of the parent process, from before the fork.
  if (__atomic_load_n(&reader, __ATOMIC_ACQUIRE) == &__msl_thread)
    return 1;
  __atomic_store_n(&reader, &__msl_thread, __ATOMIC_RELAXED);
  notes.count = 0;
  ::dl_iterate_phdr(takeImage, nullptr);
  LoadedImages images;
  use.function(use.argument, images);
  __atomic_store_n(&reader, nullptr, __ATOMIC_RELEASE);
  use.is_done = true;
  return 1;
}

int countImage(dl_phdr_info *, size_t, void *) noexcept {
  ++start_count;
  return 0;
}

// This library is preloaded. So when its constructors run, all images that the program starts with are loaded.
[[gnu::constructor]] void countStart() noexcept { ::dl_iterate_phdr(countImage, nullptr); }

} // namespace

uint32_t LoadedImages::count() const noexcept { return notes.count; }
// start_count is 0 if a constructor of another library calls a hook before countStart has run.
uint32_t LoadedImages::startCount() const noexcept {
  return start_count != 0 && start_count < notes.count ? start_count : notes.count;
}
const LoadedImage &LoadedImages::operator[](uint32_t index) const noexcept { return imageAt(index); }

uint32_t LoadedImages::find(const void *address) const noexcept {
  for (uint32_t i = 0; address != nullptr && i < notes.count; ++i)
    if (imageAt(i).holds(address))
      return i;
  return kNone;
}

void LoadedImages::findNeeds() noexcept {
  if (knows_needs_)
    return;
  knows_needs_ = true;
  clear(notes.by_name);
  for (uint32_t i = 0; i < notes.count; ++i)
    for (const char *name : {imageAt(i).path(), imageAt(i).fileName(), imageAt(i).ownName()})
      if (name != nullptr && *name != 0)
        if (uint16_t &place = placeOf(name); place == 0)
          place = static_cast<uint16_t>(i + 1);
  uint32_t end = 0;
  for (uint32_t i = 0; i < notes.count; ++i) {
    notes.needs_begin[i] = end;
    imageAt(i).forEachNeeded([&](const char *name) {
      if (const uint16_t place = placeOf(name); place != 0 && end < kMostNeeds)
        notes.needs[end++] = static_cast<uint16_t>(place - 1);
    });
  }
  notes.needs_begin[notes.count] = end;
}

void LoadedImages::findUsers(uint32_t of) noexcept {
  findNeeds();
  clear(notes.users);
  add(notes.users, of);
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < notes.count; ++i)
      for (uint32_t at = notes.needs_begin[i]; at < notes.needs_begin[i + 1] && !isIn(notes.users, i); ++at)
        if (isIn(notes.users, notes.needs[at])) {
          add(notes.users, i);
          more = true;
        }
  }
}

bool LoadedImages::isUser(uint32_t index) const noexcept { return isIn(notes.users, index); }

void LoadedImages::begin(uint32_t root) noexcept {
  clear(notes.visited);
  add(notes.visited, root);
  notes.queue[0] = static_cast<uint16_t>(root);
  notes.queue_begin = 0;
  notes.queue_end = 1;
}

uint32_t LoadedImages::next() noexcept {
  if (notes.queue_begin == notes.queue_end)
    return kNone;
  const uint32_t image = notes.queue[notes.queue_begin++];
  for (uint32_t at = notes.needs_begin[image]; at < notes.needs_begin[image + 1]; ++at)
    if (const uint16_t needed = notes.needs[at]; !isIn(notes.visited, needed)) {
      add(notes.visited, needed);
      notes.queue[notes.queue_end++] = needed;
    }
  return image;
}

bool withLoadedImages(void (*function)(void *, LoadedImages &), void *argument) noexcept {
  Use use{function, argument, false};
  ::dl_iterate_phdr(useAll, &use);
  return use.is_done;
}

} // namespace msleaks::hooks
