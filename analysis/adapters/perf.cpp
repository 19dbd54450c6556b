// perf: the perf.data file that `perf record` of Linux writes.
#include "analysis/adapters/registry.h"
#include "analysis/counts/perf_file.h"

namespace msleaks::analysis::inline adapters {
namespace {

Result<profiles::Profile> loadPerf(const InputFile &file, ProfileLoading &loading) {
  return profiles::readPerfProfile(file, loading.perf, loading.notes);
}

} // namespace

MSL_REGISTER_PROFILE_ADAPTER(perf, "Linux perf.data, read without perf", profiles::isPerfData, loadPerf)

} // namespace msleaks::analysis::inline adapters
