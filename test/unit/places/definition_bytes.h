// Builds the definitions of processes byte by byte for tests.
#pragma once

#include "table_bytes.h"

#include "msleaks/abi/definitions.h"
#include "msleaks/abi/site_table.h"

#include <cstddef>
#include <span>
#include <string>

namespace msleaks::test {

inline std::span<const std::byte> bytesOf(const std::string &text) {
  return {reinterpret_cast<const std::byte *>(text.data()), text.size()};
}

template <class T> std::string raw(const T &value) { return {reinterpret_cast<const char *>(&value), sizeof value}; }

// Builds the records of a .defs file, as the runtime appends them.
class Records {
public:
  Records &add(abi::DefinitionKind kind, const std::string &body) {
    const auto *first = reinterpret_cast<const unsigned char *>(body.data());
    bytes += raw(abi::DefinitionHeader{abi::kDefinitionMagic, kind, static_cast<uint32_t>(body.size()),
                                       abi::fnv1a32(first, body.size())});
    bytes += body;
    bytes.resize((bytes.size() + 7) & ~size_t{7});
    return *this;
  }
  Records &image(uint32_t number, const std::string &path, uint64_t load_bias = 0) {
    abi::ImageDefinition image{};
    image.image = number;
    image.load_bias = load_bias;
    return add(abi::DefinitionKind::Image, raw(image) + path);
  }
  Records &unit(uint32_t image, uint32_t base, TableBytes table) {
    const auto bytes = table.build();
    return add(abi::DefinitionKind::Unit, raw(abi::UnitDefinition{image, base}) +
                                              std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
  }
  Records &inherited(uint32_t pid, uint64_t attach_ns) {
    return add(abi::DefinitionKind::Inherited, raw(abi::InheritedDefinition{pid, 0, attach_ns}));
  }
  Records &label(uint32_t number, const std::string &text) {
    return add(abi::DefinitionKind::String, raw(abi::StringDefinition{number, 0}) + text);
  }
  std::string bytes;
};

} // namespace msleaks::test
