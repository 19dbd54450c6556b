// An executable or library in this process, read from its own dynamic tables. They contain the symbols that it defines
// and refers to, and the libraries that it needs. This code calls no function of the dynamic linker. dlsym takes a
// lock, allocates a message if it finds nothing, and drops a message that the program has not read yet.
#pragma once

#include <cstdint>
#include <link.h>

namespace msleaks::hooks {

struct SymbolName {
  explicit SymbolName(const char *name) noexcept;
  const char *text;
  uint32_t gnu_hash, sysv_hash;
};

// Whether an image refers to a symbol by its name, and the version that it asks for (null: none).
struct Reference {
  bool is_there;
  const char *version;
};

// Used instead of strcmp: a sanitizer in the program may replace strcmp. The first call of the replacement calls dlsym,
// and the hook of dlsym would call strcmp again.
bool isSameText(const char *left, const char *right) noexcept;
const char *fileNameOf(const char *path) noexcept;

// Valid only while the image is loaded, so only under the lock of dl_iterate_phdr.
class LoadedImage {
public:
  explicit LoadedImage(const dl_phdr_info &object) noexcept;

  const char *path() const noexcept { return path_; } // "" for the program
  bool holds(const void *address) const noexcept;

  // Null: the image does not define the symbol, or not in this version. `version` null: the default version.
  void *definitionOf(const SymbolName &name, const char *version) const noexcept;
  // Whether the image defines the symbol without a version. Such a definition matches any version.
  bool servesAll(const SymbolName &name) const noexcept;
  // The image's own definition of the symbol counts as a reference, too, because the image may call it by its name.
  Reference referenceTo(const SymbolName &name) const noexcept;

  // The names by which DT_NEEDED of another image may name this image. ownName() may be null.
  const char *ownName() const noexcept { return own_name_; }
  const char *fileName() const noexcept { return fileNameOf(path_); }

  template <class Function> void forEachNeeded(Function function) const noexcept {
    for (const ElfW(Dyn) *entry = dynamic_; entry != nullptr && entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == DT_NEEDED && strings_ != nullptr)
        function(strings_ + entry->d_un.d_val);
  }

private:
  // Returns the symbol's number, or 0 if there is none.
  uint32_t findDefinition(const SymbolName &name, const char *version) const noexcept;
  const char *versionOfDefinition(uint32_t symbol) const noexcept;
  bool definesVersion(uint32_t symbol, const char *version) const noexcept;
  bool isDefinition(uint32_t symbol, const SymbolName &name, const char *version) const noexcept;
  uint32_t countReferences() const noexcept;
  const char *versionAskedBy(uint32_t symbol) const noexcept;

  uint64_t bias_;
  const ElfW(Phdr) * headers_;
  uint32_t header_count_;
  const char *path_;
  const ElfW(Dyn) *dynamic_ = nullptr;
  const ElfW(Sym) *symbols_ = nullptr;
  const char *strings_ = nullptr;
  uint64_t string_bytes_ = 0;
  const uint32_t *gnu_hash_ = nullptr, *sysv_hash_ = nullptr;
  const ElfW(Half) *versions_ = nullptr;
  const ElfW(Verdef) *defined_versions_ = nullptr;
  const ElfW(Verneed) *asked_versions_ = nullptr;
  uint64_t behind_symbols_ = UINT64_MAX; // address of the table that follows the symbols
  const char *own_name_ = nullptr;       // DT_SONAME
};

} // namespace msleaks::hooks
