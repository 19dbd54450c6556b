#include "core/loaded_image.h"

#include <elf.h>
#include <sys/auxv.h>

namespace msleaks::hooks {
namespace {

constexpr uint16_t kHiddenVersion = 0x8000, kVersionNumber = 0x7fff;

uint32_t gnuHash(const char *name) noexcept {
  uint32_t hash = 5381;
  for (; *name != 0; ++name)
    hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

uint32_t sysvHash(const char *name) noexcept {
  uint32_t hash = 0;
  for (; *name != 0; ++name) {
    hash = (hash << 4) + static_cast<unsigned char>(*name);
    const uint32_t high = hash & 0xf0000000;
    hash = (hash ^ high >> 24) & ~high;
  }
  return hash;
}

template <class Type> const Type *behind(const void *from, uint64_t bytes) noexcept {
  return reinterpret_cast<const Type *>(static_cast<const char *>(from) + bytes);
}

// Calls the resolver of an indirect function (STT_GNU_IFUNC) with the arguments that the dynamic linker passes. Returns
// the function that the resolver chooses.
void *chosenBy(uint64_t address) noexcept {
#if defined(__aarch64__)
  struct {
    unsigned long bytes, hwcap, hwcap2;
  } const more = {sizeof more, ::getauxval(AT_HWCAP), ::getauxval(AT_HWCAP2)};
  constexpr unsigned long kHasMore = 1ul << 62;
  return reinterpret_cast<void *(*)(unsigned long, const void *)>(address)(more.hwcap | kHasMore, &more);
#else
  return reinterpret_cast<void *(*)()>(address)();
#endif
}

// The table of DT_GNU_HASH.
struct GnuHash {
  explicit GnuHash(const uint32_t *table) noexcept
      : bucket_count(table[0]), first_symbol(table[1]), bloom_count(table[2]), bloom_shift(table[3]),
        bloom(reinterpret_cast<const ElfW(Addr) *>(table + 4)),
        buckets(reinterpret_cast<const uint32_t *>(bloom + bloom_count)), chain(buckets + bucket_count) {}

  bool mayHave(uint32_t hash) const noexcept {
    constexpr uint32_t kBits = sizeof(ElfW(Addr)) * 8;
    const ElfW(Addr) word = bloom[hash / kBits % bloom_count];
    return (word >> hash % kBits & word >> (hash >> bloom_shift) % kBits & 1) != 0;
  }

  uint32_t bucket_count, first_symbol, bloom_count, bloom_shift;
  const ElfW(Addr) *bloom;
  const uint32_t *buckets, *chain;
};

} // namespace

bool isSameText(const char *left, const char *right) noexcept {
  for (; *left != 0 && *left == *right; ++left)
    ++right;
  return *left == *right;
}

const char *fileNameOf(const char *path) noexcept {
  const char *file = path;
  for (; *path != 0; ++path)
    if (*path == '/')
      file = path + 1;
  return file;
}

SymbolName::SymbolName(const char *name) noexcept : text(name), gnu_hash(gnuHash(name)), sysv_hash(sysvHash(name)) {}

LoadedImage::LoadedImage(const dl_phdr_info &object) noexcept
    : bias_(object.dlpi_addr), headers_(object.dlpi_phdr), header_count_(object.dlpi_phnum),
      path_(object.dlpi_name != nullptr ? object.dlpi_name : "") {
  for (uint32_t i = 0; i < header_count_; ++i)
    if (headers_[i].p_type == PT_DYNAMIC)
      dynamic_ = reinterpret_cast<const ElfW(Dyn) *>(bias_ + headers_[i].p_vaddr);
  uint64_t own_name = 0;
  uint64_t tables[16], table_count = 0;
  for (const ElfW(Dyn) *entry = dynamic_; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    // The dynamic linker has replaced the offset by an address, except in an image that it cannot write, such as the
    // vDSO.
    const uint64_t address = entry->d_un.d_ptr < bias_ ? entry->d_un.d_ptr + bias_ : entry->d_un.d_ptr;
    bool is_table = true;
    switch (entry->d_tag) {
    case DT_SYMTAB:
      symbols_ = reinterpret_cast<const ElfW(Sym) *>(address);
      is_table = false;
      break;
    case DT_STRTAB:
      strings_ = reinterpret_cast<const char *>(address);
      break;
    case DT_GNU_HASH:
      gnu_hash_ = reinterpret_cast<const uint32_t *>(address);
      break;
    case DT_HASH:
      sysv_hash_ = reinterpret_cast<const uint32_t *>(address);
      break;
    case DT_VERSYM:
      versions_ = reinterpret_cast<const ElfW(Half) *>(address);
      break;
    case DT_VERDEF:
      defined_versions_ = reinterpret_cast<const ElfW(Verdef) *>(address);
      break;
    case DT_VERNEED:
      asked_versions_ = reinterpret_cast<const ElfW(Verneed) *>(address);
      break;
    case DT_RELA:
    case DT_JMPREL:
      break;
    case DT_STRSZ:
      string_bytes_ = entry->d_un.d_val;
      is_table = false;
      break;
    case DT_SONAME:
      own_name = entry->d_un.d_val;
      is_table = false;
      break;
    default:
      is_table = false;
    }
    if (is_table && table_count < sizeof tables / sizeof *tables)
      tables[table_count++] = address;
  }
  if (own_name != 0 && strings_ != nullptr)
    own_name_ = strings_ + own_name;
  for (uint64_t i = 0; i < table_count; ++i)
    if (tables[i] > reinterpret_cast<uint64_t>(symbols_) && tables[i] < behind_symbols_)
      behind_symbols_ = tables[i];
}

bool LoadedImage::holds(const void *address) const noexcept {
  for (uint32_t i = 0; i < header_count_; ++i)
    if (headers_[i].p_type == PT_LOAD &&
        reinterpret_cast<uint64_t>(address) - (bias_ + headers_[i].p_vaddr) < headers_[i].p_memsz)
      return true;
  return false;
}

// Returns the version of a definition; null: the definition has none.
const char *LoadedImage::versionOfDefinition(uint32_t symbol) const noexcept {
  const uint16_t number = versions_ != nullptr ? versions_[symbol] & kVersionNumber : uint16_t{VER_NDX_GLOBAL};
  for (const ElfW(Verdef) *defined = number > VER_NDX_GLOBAL ? defined_versions_ : nullptr; defined != nullptr;) {
    if ((defined->vd_ndx & kVersionNumber) == number)
      return strings_ + behind<ElfW(Verdaux)>(defined, defined->vd_aux)->vda_name;
    defined = defined->vd_next != 0 ? behind<ElfW(Verdef)>(defined, defined->vd_next) : nullptr;
  }
  return nullptr;
}

bool LoadedImage::definesVersion(uint32_t symbol, const char *version) const noexcept {
  if (versions_ == nullptr)
    return true; // an image without versions matches any version
  const char *const defined = version != nullptr ? versionOfDefinition(symbol) : nullptr;
  return defined != nullptr ? isSameText(defined, version) : (versions_[symbol] & kHiddenVersion) == 0;
}

bool LoadedImage::isDefinition(uint32_t symbol, const SymbolName &name, const char *version) const noexcept {
  const ElfW(Sym) &found = symbols_[symbol];
  const unsigned type = ELF64_ST_TYPE(found.st_info), binding = ELF64_ST_BIND(found.st_info);
  return found.st_shndx != SHN_UNDEF && found.st_value != 0 && binding != STB_LOCAL &&
         (type == STT_FUNC || type == STT_NOTYPE || type == STT_OBJECT || type == STT_GNU_IFUNC) &&
         isSameText(strings_ + found.st_name, name.text) && definesVersion(symbol, version);
}

uint32_t LoadedImage::findDefinition(const SymbolName &name, const char *version) const noexcept {
  if (symbols_ == nullptr || strings_ == nullptr)
    return 0;
  if (gnu_hash_ != nullptr) {
    const GnuHash table(gnu_hash_);
    if (table.bucket_count == 0 || table.bloom_count == 0 || !table.mayHave(name.gnu_hash))
      return 0;
    uint32_t symbol = table.buckets[name.gnu_hash % table.bucket_count];
    if (symbol < table.first_symbol)
      return 0;
    for (;; ++symbol) {
      const uint32_t hash = table.chain[symbol - table.first_symbol];
      if ((hash | 1) == (name.gnu_hash | 1) && isDefinition(symbol, name, version))
        return symbol;
      if ((hash & 1) != 0)
        return 0;
    }
  }
  if (sysv_hash_ == nullptr || sysv_hash_[0] == 0)
    return 0;
  const uint32_t bucket_count = sysv_hash_[0], *const buckets = sysv_hash_ + 2, *const chain = buckets + bucket_count;
  uint32_t symbol = buckets[name.sysv_hash % bucket_count];
  while (symbol != 0 && !isDefinition(symbol, name, version))
    symbol = chain[symbol];
  return symbol;
}

void *LoadedImage::definitionOf(const SymbolName &name, const char *version) const noexcept {
  const uint32_t symbol = findDefinition(name, version);
  if (symbol == 0)
    return nullptr;
  const uint64_t address = bias_ + symbols_[symbol].st_value;
  return ELF64_ST_TYPE(symbols_[symbol].st_info) == STT_GNU_IFUNC ? chosenBy(address)
                                                                  : reinterpret_cast<void *>(address);
}

bool LoadedImage::servesAll(const SymbolName &name) const noexcept {
  const uint32_t symbol = findDefinition(name, nullptr);
  return symbol != 0 && versionOfDefinition(symbol) == nullptr;
}

// Undefined symbols come before the symbols in the hash table. An empty hash table does not say how many undefined
// symbols there are. Then the symbols end where the next table begins.
uint32_t LoadedImage::countReferences() const noexcept {
  if (sysv_hash_ != nullptr)
    return sysv_hash_[1];
  const auto room = behind_symbols_ == UINT64_MAX
                        ? 0u
                        : static_cast<uint32_t>((behind_symbols_ - reinterpret_cast<uint64_t>(symbols_)) / sizeof *symbols_);
  if (gnu_hash_ == nullptr)
    return room;
  const GnuHash table(gnu_hash_);
  for (uint32_t i = 0; i < table.bucket_count; ++i)
    if (table.buckets[i] != 0)
      return table.first_symbol;
  return room;
}

const char *LoadedImage::versionAskedBy(uint32_t symbol) const noexcept {
  if (versions_ == nullptr)
    return nullptr;
  const uint16_t number = versions_[symbol] & kVersionNumber;
  for (const ElfW(Verneed) *asked = asked_versions_; asked != nullptr;) {
    const auto *version = behind<ElfW(Vernaux)>(asked, asked->vn_aux);
    for (unsigned i = 0; i < asked->vn_cnt; ++i, version = behind<ElfW(Vernaux)>(version, version->vna_next))
      if ((version->vna_other & kVersionNumber) == number)
        return strings_ + version->vna_name;
    asked = asked->vn_next != 0 ? behind<ElfW(Verneed)>(asked, asked->vn_next) : nullptr;
  }
  return nullptr;
}

Reference LoadedImage::referenceTo(const SymbolName &name) const noexcept {
  if (symbols_ == nullptr || strings_ == nullptr)
    return {false, nullptr};
  if (const uint32_t own = findDefinition(name, nullptr); own != 0)
    return {true, versionOfDefinition(own)};
  const uint32_t count = countReferences();
  for (uint32_t symbol = 1; symbol < count; ++symbol)
    if (const ElfW(Sym) &one = symbols_[symbol];
        one.st_shndx == SHN_UNDEF && one.st_name < string_bytes_ && isSameText(strings_ + one.st_name, name.text))
      return {true, versionAskedBy(symbol)};
  return {false, nullptr};
}

} // namespace msleaks::hooks
