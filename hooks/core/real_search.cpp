#include "core/real_search.h"

#include "core/loaded_images.h"
#include "core/registry.h"

#include "msleaks/abi/library_name.h"

#include <dlfcn.h>

namespace msleaks::hooks {
namespace {

constexpr uint32_t kMostDefiners = 32;

struct Definer {
  uint32_t image;
  void *real;
  bool fits; // whether it is the version that the caller asks for
};

void copyText(char *to, uint32_t bytes, const char *text) noexcept {
  uint32_t at = 0;
  for (; at + 1 < bytes && text[at] != 0; ++at)
    to[at] = text[at];
  to[at] = 0;
}

// Whether a file has one of the `names`, for example "libacl_rt|libascendcl". "libcudart" matches libcudart.so.12 and
// libcudart-d0da41ae.so.11.0.
bool isOneOf(const char *file, const char *names) noexcept {
  for (const char *name = names;; ++name) {
    const char *at = file;
    while (*name != 0 && *name != '|' && *name == *at)
      ++name, ++at;
    if ((*name == 0 || *name == '|') && !abi::isPartOfLibraryName(*at))
      return true;
    while (*name != 0 && *name != '|')
      ++name;
    if (*name == 0)
      return false;
  }
}

class Search {
public:
  Search(const hook::Function &function, const void *address, Asker asker, RealSearch &found) noexcept
      : function_(function), name_(function.name), address_(address), asker_(asker), found_(found) {}

  void run(LoadedImages &images) noexcept {
    caller_ = images.find(address_);
    found_.is_known = caller_ != LoadedImages::kNone;
    if (found_.is_known) {
      copyText(found_.path, sizeof found_.path, images[caller_].path());
      reference_ = asker_ == Asker::Call ? images[caller_].referenceTo(name_) : Reference{false, nullptr};
      found_.refers = reference_.is_there;
    }
    findDefiners(images);
    if (count_ == 0)
      return;
    findEverybodys(images);
    findAny(images);
    findOwn(images);
  }

  // Images that were opened with RTLD_GLOBAL come before the images that were opened together with the caller's image.
  // Only the dynamic linker knows which images these are. This function asks it if the answer may differ. The lock of
  // the images must not be held.
  void askGlobal() noexcept {
    if (!is_global_unknown_)
      return;
    void *const global = reference_.version != nullptr ? ::dlvsym(RTLD_NEXT, name_.text, reference_.version)
                                                       : lookUp(RTLD_NEXT, name_.text);
    if (global == nullptr)
      forgetMessage();
    for (uint32_t i = 0; i < count_; ++i)
      if (global != nullptr && definers_[i].real == global)
        found_.own = global;
  }

private:
  // Finds the images that define the function, from the hook's own library on. The dynamic linker has already searched
  // the images before it.
  void findDefiners(const LoadedImages &images) noexcept {
    const uint32_t self = images.find(&function_), first = self < images.startCount() ? self : 0;
    found_.is_first = true;
    for (uint32_t i = 0; i < first; ++i)
      found_.is_first &= images[i].definitionOf(name_, nullptr) == nullptr;
    for (uint32_t i = first; i < images.count() && count_ < kMostDefiners; ++i) {
      if (i == self)
        continue;
      void *real = images[i].definitionOf(name_, reference_.version);
      const bool fits = real != nullptr;
      if (!fits && reference_.version != nullptr)
        real = images[i].definitionOf(name_, nullptr);
      if (real != nullptr && real != function_.hook)
        definers_[count_++] = {i, real, fits};
    }
    found_.count = count_;
  }

  // A definition without versions is the real function of all callers. So is one in libstdc++, because every version of
  // libstdc++ has all versions of the hooked functions.
  void findEverybodys(const LoadedImages &images) noexcept {
    const Definer &first = definers_[0];
    if (first.image < images.startCount() && functionOfHook(name_.text, first.real) == nullptr &&
        (images[first.image].servesAll(name_) || isSameText(function_.library, "libstdc++")))
      found_.everybodys = first.real;
  }

  void findAny(const LoadedImages &images) noexcept {
    found_.any = definers_[0].real;
    for (uint32_t i = 0; i < count_; ++i)
      if (isOneOf(images[definers_[i].image].fileName(), function_.library)) {
        found_.any = definers_[i].real;
        return;
      }
  }

  void findOwn(LoadedImages &images) noexcept {
    if (asker_ == Asker::Library && found_.is_known && caller_ >= images.startCount())
      for (uint32_t i = 0; i < count_; ++i)
        if (definers_[i].image == caller_)
          found_.own = definers_[i].real;
    for (uint32_t i = 0; found_.own == nullptr && i < count_; ++i)
      if (definers_[i].fits && definers_[i].image < images.startCount())
        found_.own = definers_[i].real;
    if (found_.own != nullptr || !found_.is_known)
      return;
    images.firstInScope(caller_, [this](uint32_t image) {
      for (uint32_t i = 0; i < count_; ++i)
        if (definers_[i].image == image && definers_[i].fits) {
          found_.own = definers_[i].real;
          return true;
        }
      return false;
    });
    for (uint32_t i = 0; i < count_; ++i)
      is_global_unknown_ |= count_ > 1 && definers_[i].fits && definers_[i].real != found_.own;
  }

  const hook::Function &function_;
  const SymbolName name_;
  const void *const address_;
  const Asker asker_;
  RealSearch &found_;
  uint32_t caller_ = LoadedImages::kNone;
  Reference reference_{false, nullptr};
  Definer definers_[kMostDefiners];
  uint32_t count_ = 0;
  bool is_global_unknown_ = false;
};

} // namespace

void forgetMessage() noexcept {
  ::dlerror();
  ::dlerror();
}

bool searchReal(const hook::Function &function, const void *address, Asker asker, RealSearch &found) noexcept {
  found = {};
  Search search(function, address, asker, found);
  if (!withLoadedImages([&](LoadedImages &images) { search.run(images); }))
    return false;
  search.askGlobal();
  return true;
}

void *definitionBeside(const void *address, const char *name) noexcept {
  void *definition = nullptr;
  withLoadedImages([&](LoadedImages &images) {
    if (const uint32_t image = images.find(address); image != LoadedImages::kNone)
      definition = images[image].definitionOf(SymbolName(name), nullptr);
  });
  return definition;
}

bool pathOfImage(const void *address, char *path, uint32_t bytes) noexcept {
  bool is_there = false;
  withLoadedImages([&](LoadedImages &images) {
    const uint32_t image = images.find(address);
    is_there = image != LoadedImages::kNone;
    if (is_there)
      copyText(path, bytes, images[image].path());
  });
  return is_there;
}

} // namespace msleaks::hooks
