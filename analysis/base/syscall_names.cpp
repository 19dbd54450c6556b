#include "analysis/base/syscall_names.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <iterator>

namespace msleaks::analysis::inline base {
namespace {

struct SyscallName {
  uint32_t number;
  std::string_view name;
};

// cmake/syscalls.cmake writes this list from the headers of the system.
constexpr SyscallName kSyscalls[] = {
#include "syscalls.inc"
};

} // namespace

std::string syscallName(uint32_t number) {
  const auto found = std::ranges::find(kSyscalls, number, &SyscallName::number);
  return found == std::end(kSyscalls) ? fmt::format("syscall {}", number) : std::string(found->name);
}

std::optional<uint32_t> syscallNumber(std::string_view name) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size() && number < 1024)
    return number;
  const auto found = std::ranges::find(kSyscalls, name, &SyscallName::name);
  return found == std::end(kSyscalls) ? std::nullopt : std::optional(found->number);
}

} // namespace msleaks::analysis::inline base
