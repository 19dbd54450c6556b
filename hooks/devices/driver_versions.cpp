#include "devices/driver_versions.h"

#include "devices/device.h"

#include "msleaks/runtime/note.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace msleaks::hooks {
namespace {

using MajorOf = int32_t(hook::Function &, int32_t &major);

template <int kTimes> int32_t oneNumber(hook::Function &function, int32_t &major) {
  int version = 0;
  const int32_t status = callReal<int(int *)>(function, &version);
  major = version / kTimes;
  return status;
}
int32_t threeNumbers(hook::Function &function, int32_t &major) {
  int32_t minor = 0, patch = 0;
  return callReal<int(int32_t *, int32_t *, int32_t *)>(function, &major, &minor, &patch);
}

int32_t numberAt(const char *text) {
  int32_t number = 0;
  for (; *text >= '0' && *text <= '9' && number < 1000; ++text)
    number = number * 10 + (*text - '0');
  return number;
}
MSL_ASKED(platform_ids, "libOpenCL", "clGetPlatformIDs")
// Stores the version of the newest platform. The note does not depend on which platform the program uses.
int32_t ofPlatforms(hook::Function &function, int32_t &major) {
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
      major = std::max(major, numberAt(text + sizeof kBegin - 1));
  }
  return status;
}

struct DriverVersion {
  abi::Family family;
  hook::Function &function;
  MajorOf *majorOf;
  int32_t newest;
};
#define ONE_NUMBER(times) oneNumber<times>
#define THREE_NUMBERS threeNumbers
#define PLATFORMS ofPlatforms
#define MSL_DRIVER_VERSION(family, library, function, way, newest) MSL_ASKED(function, library, #function)
#include "devices/driver_versions.def"
constexpr DriverVersion versions[] = {
#define MSL_DRIVER_VERSION(family, library, function, way, newest) {abi::Family::family, function, way, newest},
#include "devices/driver_versions.def"
};

} // namespace

void noteUnknownVersions(abi::Family family) noexcept {
  for (const DriverVersion &version : versions) {
    int32_t major = 0;
    if (version.family != family || version.majorOf(version.function, major) != 0 || major <= version.newest)
      continue;
    char note[160];
    std::snprintf(note, sizeof note,
                  "%s is of version %d, its hooks know versions up to %d: new functions are not recorded",
                  version.function.library, major, version.newest);
    __msl_note(note);
  }
}

} // namespace msleaks::hooks
