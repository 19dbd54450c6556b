#include "analysis/second_run/driver_functions.h"

#include "analysis/base/text.h"
#include "analysis/second_run/library_file.h"
#include "analysis/second_run/vocabulary.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <unordered_set>

namespace msleaks::analysis::inline second_run {
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

bool isOfMemory(const std::string &symbol) {
  return std::ranges::any_of(kMemoryWords, [&](std::string_view word) { return symbol.find(word) != symbol.npos; });
}

} // namespace

bool isOfDriver(const std::string &symbol) {
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) {
    return symbol.size() > prefix.size() && symbol.starts_with(prefix) &&
           std::isupper(static_cast<unsigned char>(symbol[prefix.size()])) != 0;
  });
}

DriverFunctions driverFunctionsOf(const LibraryFile &file, const HookedSymbols &hooked) {
  DriverFunctions functions;
  for (const auto &[symbol, definition] : file.definitions) {
    if (definition.visibility == LibraryFile::Visibility::Local || !isOfDriver(symbol))
      continue;
    ++functions.exported;
    if (hooked.hooks(symbol))
      ++functions.hooked;
    else if (isOfMemory(symbol) && !listedNames().contains(symbol))
      functions.unknown.insert(symbol);
  }
  return functions;
}

} // namespace msleaks::analysis::inline second_run
