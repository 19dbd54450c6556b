// Fuzzes the reader of manifest.json. An accepted manifest must be the same after it was written and read again.
#include "analysis/base/run_folder.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  using namespace msleaks::analysis;
  const auto manifest = parseManifest({reinterpret_cast<const char *>(bytes), size}, "fuzz");
  if (!manifest)
    return manifest.error().message.find('\n') == std::string::npos ? 0 : (std::abort(), 0);
  const std::string text = formatManifest(*manifest);
  const auto again = parseManifest(text, "fuzz");
  if (!again || formatManifest(*again) != text)
    std::abort();
  return 0;
}
