// lnt1: LNT's first format, a packed pickle.
#include "analysis/adapters/registry.h"
#include "analysis/counts/lnt_v1.h"
#include "analysis/counts/profile.h"

namespace msleaks::analysis::inline adapters {
namespace {

// LNT, too, only checks for the first bytes of a zlib stream.
bool isLnt1(std::span<const uint8_t> head) { return head.size() >= 2 && head[0] == 0x78 && head[1] == 0x9c; }

Result<profiles::Profile> loadLnt1(const InputFile &file, ProfileLoading &) {
  return profiles::readLntV1(MSL_TRY(profiles::wholeFile(file)));
}

} // namespace

MSL_REGISTER_PROFILE_ADAPTER(lnt1, "LNT, version 1: a packed pickle, of which nothing is run", isLnt1, loadLnt1)

} // namespace msleaks::analysis::inline adapters
