// Fuzzes the reader of LLVM's indexed profiles.
#include "analysis/counts/profdata.h"

#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  using namespace msleaks::analysis::profiles;
  const auto profile = readProfdata({bytes, size});
  if (!profile && profile.error().message.find('\n') != std::string::npos)
    std::abort();
  if (profile && !checkProfile(*profile))
    std::abort();
  return 0;
}
