// The names of shared libraries, such as libcudart.so.12 and libcudart-d0da41ae.so.11.0 for "libcudart".
#pragma once

namespace msleaks::abi {

// Whether this character would continue a library's name. Any other character, or the end of the file name, ends it.
constexpr bool isPartOfLibraryName(char letter) noexcept {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         letter == '_';
}

} // namespace msleaks::abi
