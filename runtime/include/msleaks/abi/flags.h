// flags.def as types: the enums of its choices, and the struct that a session's control page holds.
#pragma once

#include <cstdint>

namespace msleaks::abi {

enum class OnFull : uint32_t {
#define MSL_VALUE(type, name, text, doc) name,
#include "msleaks/abi/flags.def"
};

constexpr const char *nameOf(OnFull value) {
  switch (value) {
#define MSL_VALUE(type, name, text, doc)                                                                               \
  case type::name:                                                                                                     \
    return text;
#include "msleaks/abi/flags.def"
  }
  return "?";
}

struct Flags {
#define MSL_FLAG(type, name, value, option, minimum, maximum, doc) type name = value;
#define MSL_CHOICE(type, name, value, option, doc) type name = type::value;
#include "msleaks/abi/flags.def"
};

} // namespace msleaks::abi
