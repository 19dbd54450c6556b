#include "objects.h"

#include "../unwind/code.h"

#include <cstring>
#include <type_traits>

namespace msleaks::runtime::python {

bool hasVersions() noexcept { return python.layout.minor <= 13; }

uint64_t dictOf(uint64_t object) noexcept {
  if (object == 0)
    return 0;
  return dictInside(object, valueAt<uint64_t>(object, python.layout.type), [](uint64_t at, auto &value) {
    value = valueAt<std::remove_reference_t<decltype(value)>>(at, 0);
    return true;
  });
}

uint64_t copiedDictOf(uint64_t object) noexcept {
  uint64_t type;
  if (!unwind::copyIfThere(object + python.layout.type, type))
    return 0;
  return dictInside(object, type, [](uint64_t at, auto &value) { return unwind::copyIfThere(at, value); });
}

uint64_t versionOf(uint64_t object) noexcept {
  const uint64_t dict = hasVersions() ? dictOf(object) : 0;
  if (dict != 0)
    return valueAt<uint64_t>(dict, DictLayout::kVersion);
  return object != 0 ? valueAt<uint64_t>(object, python.layout.type) : 0;
}

std::string_view classNameOf(uint64_t object) noexcept {
  constexpr uint64_t kMostBytes = 128;
  const auto type = valueAt<uint64_t>(object, python.layout.type);
  const char *name = valueAt<const char *>(type, TypeLayout::kName);
  std::string_view whole(name, ::strnlen(name, kMostBytes));
  whole.remove_prefix(whole.rfind('.') + 1); // substr() may throw, and the runtime must not need libstdc++
  return whole;
}

} // namespace msleaks::runtime::python
