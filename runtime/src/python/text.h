// Reads the texts of Python's strings.
#pragma once

#include "layout.h"

#include <span>
#include <string_view>

namespace msleaks::runtime::python {

// The characters of a string, as Python stores them: `count` numbers of `bytes_each` bytes. `bytes_each` is 0 if the
// object stores them in another way, such as a subclass of Python's type.
struct Characters {
  uint64_t at, count;
  uint32_t bytes_each;
};
Characters charactersOf(const Layout &, uint64_t string) noexcept;

// Writes the text in UTF-8, without a NUL. If there is not enough room, the text ends after its last whole character.
// A byte of a file's name that Python could not decode is itself again.
std::string_view textOf(const Layout &, uint64_t string, std::span<char> room) noexcept;

// The same for a string that another thread may free. So the kernel copies it first. The text of a string with more
// than 128 bytes is empty.
inline constexpr uint64_t kMostCopiedBytes = 128;
std::string_view copiedTextOf(const Layout &, uint64_t string, std::span<char> room) noexcept;

} // namespace msleaks::runtime::python
