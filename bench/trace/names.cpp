// bench_names RUN [MOST]: measures the time to find the names of at most MOST calls that hooks have recorded in a run.
// The names in the trace are not used.
//
// Prints `named N images M seconds S`: the number of different calls, the number of their images, and the seconds to
// read the symbols and debug information of the images.
#include "analysis/base/run_folder.h"
#include "analysis/places/site_catalog.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>

namespace {

using namespace msleaks;
using namespace msleaks::analysis;

Result<void> nameCalls(const char *run, size_t most) {
  const auto folder = MSL_TRY(RunFolder::open(run));
  const auto reader = MSL_TRY(TraceReader::open(folder.trace()));
  Symbolizer symbolizer;
  SiteCatalog catalog(symbolizer);
  MSL_TRY(catalog.load(reader));
  const auto begin = std::chrono::steady_clock::now();
  size_t named = 0;
  std::set<std::string_view> images;
  for (uint32_t index = 1; index < catalog.size() && named < most; ++index) {
    const Site &site = catalog.describe({index});
    if (site.origin != SiteOrigin::Hook || !site.library.starts_with('/'))
      continue;
    ++named;
    images.insert(site.library);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("named %zu images %zu seconds %.3f\n", named, images.size(), seconds.count());
  return {};
}

} // namespace

int main(int count, char **arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: bench_names RUN [MOST]\n");
    return static_cast<int>(ExitStatus::Usage);
  }
  const auto named = nameCalls(arguments[1], count > 2 ? std::strtoul(arguments[2], nullptr, 10) : SIZE_MAX);
  if (named)
    return 0;
  std::fprintf(stderr, "bench_names: %s\n", named.error().message.c_str());
  return static_cast<int>(named.error().status);
}
