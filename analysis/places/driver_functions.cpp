#include "analysis/places/driver_functions.h"

#include "analysis/base/text.h"
#include "analysis/places/elf_file.h"
#include "msleaks/abi/functions.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

namespace msleaks::analysis::inline places {
namespace {

#include "hooks.inc"

constexpr std::string_view kPrefixes[] = {"aclmdl", "aclrt", "cuda", "cu", "hip", "cl", "ze"};
constexpr std::string_view kMemoryWords[] = {"Alloc", "alloc", "Free",   "Map",   "Copy",
                                             "cpy",   "Fill",  "Memset", "Launch"};

// The words of a list are the names, and also words of the reasons, which are the names of no function.
const std::unordered_set<std::string_view> &listedNames() {
  static const std::unordered_set<std::string_view> names = [] {
    std::unordered_set<std::string_view> found;
    for (std::string_view list :
         {kAscendUnhookedTxt, kCudaUnhookedTxt, kHipUnhookedTxt, kLevelZeroUnhookedTxt, kOpenclUnhookedTxt})
      for (size_t end = 0; !list.empty(); list.remove_prefix(std::min(end + 1, list.size()))) {
        end = std::min(list.find_first_of(" \n"), list.size());
        found.insert(list.substr(0, end));
      }
    return found;
  }();
  return names;
}

bool isOfMemory(std::string_view symbol) {
  return std::ranges::any_of(kMemoryWords, [&](std::string_view word) { return symbol.find(word) != symbol.npos; });
}

// Whether the library's name begins as that of a library in the table of functions.
bool isDriver(const std::string &path) {
  const std::string_view name = baseName(path);
  return std::ranges::any_of(abi::kFunctions, [&](const abi::Function &function) {
    for (std::string_view rest = function.library; !rest.empty();) {
      const size_t end = std::min(rest.find('|'), rest.size());
      if (name.starts_with(rest.substr(0, end)))
        return true;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
  });
}

bool hasRow(std::string_view symbol) {
  return std::ranges::any_of(abi::kFunctions, [&](const abi::Function &function) {
    return symbol == function.name || symbol == function.form ||
           (symbol.starts_with(function.name) &&
            (symbol.substr(function.name.size()) == "Impl" || symbol.substr(function.name.size()) == "Inner"));
  });
}

// Calls f(name) for each function that the ELF file exports.
template <class F> void forEachExport(Elf *elf, F f) {
  forEachSection(elf, [&](Elf_Scn *section, const GElf_Shdr &header) {
    Elf_Data *const data = header.sh_type == SHT_DYNSYM ? elf_getdata(section, nullptr) : nullptr;
    if (data == nullptr || header.sh_entsize == 0)
      return;
    for (size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF ||
          GELF_ST_TYPE(symbol.st_info) != STT_FUNC || GELF_ST_BIND(symbol.st_info) == STB_LOCAL)
        continue;
      if (const char *const name = elf_strptr(elf, header.sh_link, symbol.st_name))
        f(name);
    }
  });
}

} // namespace

bool isOfDriver(std::string_view symbol) {
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) {
    return symbol.size() > prefix.size() && symbol.starts_with(prefix) &&
           std::isupper(static_cast<unsigned char>(symbol[prefix.size()])) != 0;
  });
}

bool isUnknownToHooks(std::string_view symbol) {
  return isOfDriver(symbol) && isOfMemory(symbol) && !listedNames().contains(symbol) && !hasRow(symbol);
}

std::vector<std::string> unknownFunctionsOf(const ImageFile &library) {
  std::vector<std::string> unknown;
  if (!isDriver(library.path))
    return unknown;
  const auto file = ElfFile::open(library.path);
  if (!file || buildIdOf(file->handle()) != library.build_id)
    return unknown;
  forEachExport(file->handle(), [&](const char *name) {
    if (isUnknownToHooks(name))
      unknown.emplace_back(name);
  });
  std::ranges::sort(unknown);
  return unknown;
}

} // namespace msleaks::analysis::inline places
