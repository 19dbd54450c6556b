#include "analysis/adapters/registry.h"

#include <array>
#include <fmt/format.h>

namespace msleaks::analysis {
namespace {

constexpr size_t kHeadBytes = 1024;

} // namespace

#define MSL_ENTRY(stem) ProfileAdapter makeProfileAdapter_##stem();
#include "adapters.inc"
#undef MSL_ENTRY

std::vector<ProfileAdapter> profileAdapters() {
  return {
#define MSL_ENTRY(stem) makeProfileAdapter_##stem(),
#include "adapters.inc"
#undef MSL_ENTRY
  };
}

Result<profiles::Profile> loadProfile(const std::filesystem::path &path, ProfileLoading &loading) {
  const auto file = MSL_TRY(trace::InputFile::open(path));
  std::array<uint8_t, kHeadBytes> bytes;
  const auto head = std::span(bytes).first(MSL_TRY(file.read(0, bytes)));
  std::string names;
  for (const ProfileAdapter &adapter : profileAdapters()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", adapter.name);
    if (!adapter.recognizes(head))
      continue;
    auto profile = adapter.load(file, loading);
    if (!profile)
      return fail(fmt::format("'{}': {}", path.string(), profile.error().message), profile.error().status);
    return profile;
  }
  return fail(fmt::format("'{}' is no profile of a known format; there are {}", path.string(), names));
}

} // namespace msleaks::analysis
