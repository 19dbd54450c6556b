#include "devices/driver_versions.h"

#include "devices/device.h"

#include "msleaks/runtime/note.h"

#include <algorithm>
#include <compare>
#include <cstdio>
#include <cstring>

namespace msleaks::hooks {
namespace {

struct Version {
  int32_t major = 0, minor = 0;
  constexpr auto operator<=>(const Version &) const = default;
};
using VersionOf = int32_t(hook::Function &, Version &version);
constexpr int32_t ANY = INT32_MAX;

template <int kMajor, int kMinor> int32_t oneNumber(hook::Function &function, Version &version) {
  int number = 0;
  const int32_t status = callReal<int(int *)>(function, &number);
  version = {number / kMajor, number % kMajor / kMinor};
  return status;
}
int32_t threeNumbers(hook::Function &function, Version &version) {
  int32_t patch = 0;
  return callReal<int(int32_t *, int32_t *, int32_t *)>(function, &version.major, &version.minor, &patch);
}

// Reads the number at `text`, and moves `text` behind it.
int32_t numberAt(const char *&text) {
  int32_t number = 0;
  for (; *text >= '0' && *text <= '9' && number < 1000; ++text)
    number = number * 10 + (*text - '0');
  return number;
}
Version versionAt(const char *text) {
  const int32_t major = numberAt(text);
  return {major, *text == '.' ? numberAt(++text) : 0};
}
MSL_ASKED(platform_ids, "libOpenCL", "clGetPlatformIDs")
// Stores the version of the newest platform. The note does not depend on which platform the program uses.
int32_t ofPlatforms(hook::Function &function, Version &version) {
  constexpr unsigned kMostPlatforms = 16, kVersion = 0x0901; // CL_PLATFORM_VERSION
  constexpr char kBegin[] = "OpenCL ";
  void *platforms[kMostPlatforms] = {};
  unsigned count = 0;
  int32_t status = callReal<int(unsigned, void **, unsigned *)>(platform_ids, kMostPlatforms, platforms, &count);
  for (unsigned i = 0; status == 0 && i < count && i < kMostPlatforms; ++i) {
    char text[256] = {};
    using Ask = int(void *, unsigned, size_t, void *, size_t *);
    status = callReal<Ask>(function, platforms[i], kVersion, sizeof text - 1, text, nullptr);
    if (status == 0 && std::strncmp(text, kBegin, sizeof kBegin - 1) == 0)
      version = std::max(version, versionAt(text + sizeof kBegin - 1));
  }
  return status;
}

struct DriverVersion {
  abi::Family family;
  hook::Function &function;
  VersionOf *versionOf;
  Version newest;
};
#define ONE_NUMBER(...) oneNumber<__VA_ARGS__>
#define THREE_NUMBERS threeNumbers
#define PLATFORMS ofPlatforms
#define MSL_DRIVER_VERSION(family, library, function, way, major, minor) MSL_ASKED(function, library, #function)
#include "devices/driver_versions.def"
constexpr DriverVersion versions[] = {
#define MSL_DRIVER_VERSION(family, library, function, way, major, minor)                                               \
  {abi::Family::family, function, way, {major, minor}},
#include "devices/driver_versions.def"
};

void noteNewer(const char *library, const Version &version, const Version &newest) {
  char known[32], note[192];
  if (newest.minor == ANY)
    std::snprintf(known, sizeof known, "%d", newest.major);
  else
    std::snprintf(known, sizeof known, "%d.%d", newest.major, newest.minor);
  std::snprintf(note, sizeof note,
                "%s is of version %d.%d, its hooks know versions up to %s: new functions are not recorded. "
                "`msleaks doctor` lists them",
                library, version.major, version.minor, known);
  __msl_note(note);
}

} // namespace

void noteUnknownVersions(abi::Family family) noexcept {
  for (const DriverVersion &driver : versions) {
    Version version;
    if (driver.family == family && driver.versionOf(driver.function, version) == 0 && version > driver.newest)
      noteNewer(driver.function.library, version, driver.newest);
  }
}

} // namespace msleaks::hooks
