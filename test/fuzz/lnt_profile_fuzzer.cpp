// LNT's profiles from arbitrary bytes, both versions: an accepted profile is sound, and reads the same after it was
// written.
#include "analysis/profiles/lnt_format.h"
#include "analysis/profiles/lnt_v1.h"

#include <cstdlib>
#include <string>

using namespace msleaks::analysis::profiles;

namespace {

void expectOneLine(const std::string &message) {
  if (message.find('\n') != std::string::npos)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  const bool first = size > 0 && bytes[0] == 0x78;
  const auto profile = first ? readLntV1({bytes, size}) : readLnt({bytes, size});
  if (!profile)
    return expectOneLine(profile.error().message), 0;
  const auto file = writeLnt(*profile);
  if (!file) // a percentage beyond binary32, which only the first version has room for
    return first ? 0 : (std::abort(), 0);
  const auto again = readLnt({reinterpret_cast<const uint8_t *>(file->data()), file->size()});
  const auto same = again ? writeLnt(*again) : tl::make_unexpected(again.error());
  if (!same || *same != *file)
    std::abort();
  return 0;
}
