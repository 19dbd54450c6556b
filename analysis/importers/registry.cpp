#include "analysis/importers/registry.h"

#include "analysis/importers/unpacked_stream.h"

#include <string>

namespace msleaks::analysis::inline importers {

#define MSL_ENTRY(stem) Importer makeImporter_##stem();
#include "importers.inc"
#undef MSL_ENTRY

std::vector<Importer> allImporters() {
  return {
#define MSL_ENTRY(stem) makeImporter_##stem(),
#include "importers.inc"
#undef MSL_ENTRY
  };
}

std::optional<Importer> importerOf(const std::filesystem::path &file) {
  UnpackedStream in(file);
  std::string beginning(kBeginningBytes, '\0');
  in.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<size_t>(in.gcount()));
  for (const Importer &importer : allImporters())
    if (importer.recognizes(beginning))
      return importer;
  return std::nullopt;
}

} // namespace msleaks::analysis::inline importers
