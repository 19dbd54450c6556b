// An executable or library in this process, by its own dynamic tables: what it defines, what it refers to, what it
// needs. It is only read. No function of the dynamic linker is called: dlsym takes a lock, allocates a message where it
// finds nothing, and drops the message that the program has not read yet.
#pragma once

#include <cstdint>
#include <link.h>

namespace msleaks::hooks {

struct SymbolName {
  explicit SymbolName(const char *name) noexcept;
  const char *text;
  uint32_t gnu_hash, sysv_hash;
};

// An image's way to a symbol by its name, and the version that it asks for (null: none).
struct Reference {
  bool is_there;
  const char *version;
};

// Not strcmp: a sanitizer of the program interposes that, and its first call asks dlsym, which would end here again.
bool isSameText(const char *left, const char *right) noexcept;
const char *fileNameOf(const char *path) noexcept;

// Valid as long as the image is loaded: under the lock of dl_iterate_phdr.
class LoadedImage {
public:
  explicit LoadedImage(const dl_phdr_info &object) noexcept;

  const char *path() const noexcept { return path_; } // "" for the program
  bool holds(const void *address) const noexcept;

  // Null: it does not define the symbol, or not this version of it. `version` null: the default one.
  void *definitionOf(const SymbolName &name, const char *version) const noexcept;
  // Its definition has no version: it serves whoever asks, for whatever version.
  bool servesAll(const SymbolName &name) const noexcept;
  // Its own definition counts, too: calls of it may go by the name.
  Reference referenceTo(const SymbolName &name) const noexcept;

  // The names by which DT_NEEDED of another image may mean this one; null: it has none.
  const char *ownName() const noexcept { return own_name_; }
  const char *fileName() const noexcept { return fileNameOf(path_); }

  template <class Function> void forEachNeeded(Function function) const noexcept {
    for (const ElfW(Dyn) *entry = dynamic_; entry != nullptr && entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == DT_NEEDED && strings_ != nullptr)
        function(strings_ + entry->d_un.d_val);
  }

private:
  // The symbol's number; 0: none.
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
  uint64_t behind_symbols_ = UINT64_MAX; // where the next table begins
  const char *own_name_ = nullptr;       // DT_SONAME
};

} // namespace msleaks::hooks
