#include "analysis/second_run/driver_functions.h"

#include "analysis/places/driver_functions.h"
#include "analysis/second_run/library_file.h"
#include "analysis/second_run/vocabulary.h"

namespace msleaks::analysis::inline second_run {

DriverFunctions driverFunctionsOf(const LibraryFile &file, const HookedSymbols &hooked) {
  DriverFunctions functions;
  for (const auto &[symbol, definition] : file.definitions) {
    if (definition.visibility == LibraryFile::Visibility::Local || !isOfDriver(symbol))
      continue;
    ++functions.exported;
    if (hooked.hooks(symbol))
      ++functions.hooked;
    else if (isUnknownToHooks(symbol))
      functions.unknown.insert(symbol);
  }
  return functions;
}

} // namespace msleaks::analysis::inline second_run
