// Fuzzes the readers of both versions of LNT's profiles: an accepted profile is written, read again, and written again.
// Both written files are equal.
#include "analysis/counts/lnt_format.h"
#include "analysis/counts/lnt_v1.h"

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
  if (!file) // a percentage does not fit into binary32: only the first version allows this
    return first ? 0 : (std::abort(), 0);
  const auto again = readLnt({reinterpret_cast<const uint8_t *>(file->data()), file->size()});
  const auto same = again ? writeLnt(*again) : tl::make_unexpected(again.error());
  if (!same || *same != *file)
    std::abort();
  return 0;
}
