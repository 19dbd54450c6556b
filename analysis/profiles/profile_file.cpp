#include "analysis/profiles/profile_file.h"

#include <fmt/format.h>

namespace msleaks::analysis::profiles {
namespace {

constexpr uint64_t kMostBytes = 1 << 30;

} // namespace

Result<std::vector<uint8_t>> wholeFile(const trace::InputFile &file) {
  if (file.size() > kMostBytes)
    return fail(fmt::format("is larger than {} GiB, which no profile of this format is", kMostBytes >> 30));
  std::vector<uint8_t> bytes(static_cast<size_t>(file.size()));
  MSL_TRY(file.readAll(0, bytes));
  return bytes;
}

} // namespace msleaks::analysis::profiles
