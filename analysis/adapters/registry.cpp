#include "analysis/adapters/registry.h"

#include "analysis/profiles/standard_input.h"

#include <array>
#include <fmt/format.h>

namespace msleaks::analysis {
namespace {

constexpr size_t kHeadBytes = 1024;
constexpr char kStandardInput[] = "-";

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

static Result<profiles::Profile> load(const trace::InputFile &file, const std::string &name, ProfileLoading &loading) {
  std::array<uint8_t, kHeadBytes> bytes;
  const auto head = std::span(bytes).first(MSL_TRY(file.read(0, bytes)));
  std::string names;
  for (const ProfileAdapter &adapter : profileAdapters()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", adapter.name);
    if (!adapter.recognizes(head))
      continue;
    loading.format = adapter.name;
    auto profile = adapter.load(file, loading);
    if (!profile)
      return fail(fmt::format("'{}': {}", name, profile.error().message), profile.error().status);
    return profile;
  }
  return fail(fmt::format("'{}' is no profile of a known format; there are {}", name, names));
}

Result<profiles::Profile> loadProfile(const std::filesystem::path &path, ProfileLoading &loading) {
  if (path != kStandardInput)
    return load(MSL_TRY(trace::InputFile::open(path)), path.string(), loading);
  const auto copy = profiles::copyOfStandardInput();
  if (!copy)
    return fail("the standard input " + copy.error().message, copy.error().status);
  return load(MSL_TRY(trace::InputFile::open(fmt::format("/proc/self/fd/{}", copy->get()))), "standard input", loading);
}

} // namespace msleaks::analysis
