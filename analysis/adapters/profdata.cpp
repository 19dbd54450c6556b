// profdata: the file that llvm-profdata merge writes.
#include "analysis/counts/profdata.h"
#include "analysis/adapters/registry.h"
#include "analysis/counts/profile.h"

namespace msleaks::analysis::inline adapters {
namespace {

// Also recognises a raw profile: the loading refuses it and says how to convert it.
bool isAnyProfdata(std::span<const uint8_t> head) {
  return profiles::isProfdata(head) || profiles::isRawProfdata(head);
}

Result<profiles::Profile> loadProfdata(const InputFile &file, ProfileLoading &) {
  return profiles::readProfdata(MSL_TRY(profiles::wholeFile(file)));
}

} // namespace

MSL_REGISTER_PROFILE_ADAPTER(profdata, "LLVM's .profdata, of LLVM 19 and 22", isAnyProfdata, loadProfdata)

} // namespace msleaks::analysis::inline adapters
