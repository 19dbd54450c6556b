// lnt2: LNT's binary format, which `msleaks profile upgrade` also writes.
#include "analysis/adapters/registry.h"
#include "analysis/counts/lnt_format.h"
#include "analysis/counts/profile.h"

namespace msleaks::analysis::inline adapters {
namespace {

bool isLnt2(std::span<const uint8_t> head) { return !head.empty() && head[0] == profiles::kLntVersion; }

Result<profiles::Profile> loadLnt2(const InputFile &file, ProfileLoading &) {
  return profiles::readLnt(MSL_TRY(profiles::wholeFile(file)));
}

} // namespace

MSL_REGISTER_PROFILE_ADAPTER(lnt2, "LNT, version 2 (.lntprof), which is what upgrade writes", isLnt2, loadLnt2)

} // namespace msleaks::analysis::inline adapters
