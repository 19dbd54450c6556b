// Declares the kinds of handles in handles.def as a C++ enum.
#pragma once

#include <cstdint>

namespace msleaks::abi {

enum class HandleKind : uint8_t {
  None = 0,
#define MSL_HANDLE(name, number, text, back, doc) name = number,
#include "msleaks/abi/handles.def"
};

// Returns the text of a kind, or null for a kind that does not exist in this version.
constexpr const char *nameOf(HandleKind kind) {
  switch (kind) {
#define MSL_HANDLE(name, number, text, back, doc)                                                                      \
  case HandleKind::name:                                                                                               \
    return text;
#include "msleaks/abi/handles.def"
  default:
    return nullptr;
  }
}

} // namespace msleaks::abi
