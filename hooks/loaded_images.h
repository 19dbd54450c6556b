// All images of the process in the order in which they were loaded, and who needs whom: what the dynamic linker has
// looked through for a symbol (man 8 ld.so, dlopen).
#pragma once

#include "loaded_image.h"

#include <cstdint>

namespace msleaks::hooks {

class LoadedImages {
public:
  static constexpr uint32_t kMost = 8192; // later ones are not known
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t count() const noexcept;
  const LoadedImage &operator[](uint32_t index) const noexcept;
  // So many were there when the process began: everybody sees their symbols.
  uint32_t startCount() const noexcept;

  // The image with this address, or kNone.
  uint32_t find(const void *address) const noexcept;

  // The first for which `matches(index)` holds, in the order in which the dynamic linker searches for image `of`: each
  // dlopen that has brought it gives it all that it opened, one after the other by what needs what. kNone: none.
  template <class Matches> uint32_t firstInScope(uint32_t of, Matches matches) noexcept {
    findUsers(of);
    for (uint32_t root = 0; root < count(); ++root)
      if (isUser(root))
        if (const uint32_t found = firstBelow(root, matches); found != kNone)
          return found;
    return kNone;
  }

private:
  // From the root on, level by level.
  template <class Matches> uint32_t firstBelow(uint32_t root, Matches matches) noexcept {
    begin(root);
    for (uint32_t image; (image = next()) != kNone;)
      if (matches(image))
        return image;
    return kNone;
  }
  void findNeeds() noexcept;
  void findUsers(uint32_t of) noexcept;
  bool isUser(uint32_t index) const noexcept;
  void begin(uint32_t root) noexcept;
  uint32_t next() noexcept;

  bool knows_needs_ = false;
};

// Calls `use(argument, images)` while no image can come or go. False: this thread is in the middle of it already, and a
// signal handler asks.
bool withLoadedImages(void (*use)(void *argument, LoadedImages &images), void *argument) noexcept;

template <class Use> bool withLoadedImages(Use use) noexcept {
  return withLoadedImages([](void *argument, LoadedImages &images) { (*static_cast<Use *>(argument))(images); }, &use);
}

} // namespace msleaks::hooks
