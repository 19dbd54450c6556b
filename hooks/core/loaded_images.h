// All images of the process in the order in which they were loaded, and which image needs which. The dynamic linker
// searches for symbols in this order (man 8 ld.so, dlopen).
#pragma once

#include "core/loaded_image.h"

#include <cstdint>

namespace msleaks::hooks {

class LoadedImages {
public:
  static constexpr uint32_t kMost = 8192; // images beyond this number are not known
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t count() const noexcept;
  const LoadedImage &operator[](uint32_t index) const noexcept;
  // Returns how many images were loaded when the process began. All images see their symbols.
  uint32_t startCount() const noexcept;

  // Returns the image with this address, or kNone.
  uint32_t find(const void *address) const noexcept;

  // Returns the first image for which `matches(index)` is true, in the order in which the dynamic linker searches for
  // image `of`. For each dlopen that has loaded `of`, it searches the opened image and then the images that this one
  // needs, level by level. kNone: there is none.
  template <class Matches> uint32_t firstInScope(uint32_t of, Matches matches) noexcept {
    findUsers(of);
    for (uint32_t root = 0; root < count(); ++root)
      if (isUser(root))
        if (const uint32_t found = firstBelow(root, matches); found != kNone)
          return found;
    return kNone;
  }

private:
  // Searches from the root on, level by level.
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

// Calls `use(argument, images)` while no image can be loaded or unloaded. False: this is a signal handler that has
// interrupted such a call of the same thread.
bool withLoadedImages(void (*use)(void *argument, LoadedImages &images), void *argument) noexcept;

template <class Use> bool withLoadedImages(Use use) noexcept {
  return withLoadedImages([](void *argument, LoadedImages &images) { (*static_cast<Use *>(argument))(images); }, &use);
}

} // namespace msleaks::hooks
