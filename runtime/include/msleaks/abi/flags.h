// Declares the settings of flags.def as C++ types: the enums of their values, and the struct that a session's control
// page stores.
#pragma once

#include <cstdint>

namespace msleaks::abi {

#define MSL_ENUM(type) enum class type : uint32_t {
#define MSL_VALUE(type, name, text, doc) name,
#define MSL_ENUM_END(type)                                                                                             \
  }                                                                                                                    \
  ;
#include "msleaks/abi/flags.def"

#define MSL_ENUM(type)                                                                                                 \
  constexpr const char *nameOf(type value) {                                                                           \
    switch (value) {
#define MSL_VALUE(type, name, text, doc)                                                                               \
  case type::name:                                                                                                     \
    return text;
#define MSL_ENUM_END(type)                                                                                             \
  }                                                                                                                    \
  return "?";                                                                                                          \
  }
#include "msleaks/abi/flags.def"

struct Flags {
#define MSL_FLAG(type, name, value, option, minimum, maximum, group, doc) type name = value;
#define MSL_CHOICE(type, name, value, option, group, doc) type name = type::value;
#include "msleaks/abi/flags.def"
};

} // namespace msleaks::abi
