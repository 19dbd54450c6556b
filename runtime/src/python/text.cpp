#include "text.h"

#include "../unwind/code.h"

namespace msleaks::runtime::python {
namespace {

// The state of a string is a word. After its lowest bits come the bytes of a character (3 bits), a bit for characters
// that follow the object, and a bit for ASCII. The versions have 2, 8 or 16 lowest bits, and set at most two of them.
struct State {
  uint32_t bytes_each;
  bool is_compact, is_ascii;
};
State stateOf(uint32_t word) noexcept {
  for (const unsigned lowest : {2u, 8u, 16u})
    if (const uint32_t bytes_each = word >> lowest & 7; bytes_each != 0)
      return {bytes_each, (word >> lowest & 8) != 0, (word >> lowest & 16) != 0};
  return {};
}

uint32_t characterAt(const Characters &characters, uint64_t index) noexcept {
  switch (characters.bytes_each) {
  case 1:
    return valueAt<uint8_t>(characters.at, index);
  case 2:
    return valueAt<uint16_t>(characters.at, 2 * index);
  default:
    return valueAt<uint32_t>(characters.at, 4 * index);
  }
}

// Encodes a character, and returns the number of its bytes.
uint32_t encode(uint32_t character, char (&bytes)[4]) noexcept {
  constexpr uint32_t kReplacement = 0xfffd;
  if (character >= 0xdc80 && character <= 0xdcff) { // Python's form of a byte that is not UTF-8
    bytes[0] = static_cast<char>(character);
    return 1;
  }
  if ((character >= 0xd800 && character <= 0xdfff) || character > 0x10ffff)
    character = kReplacement;
  if (character < 0x80) {
    bytes[0] = static_cast<char>(character);
    return 1;
  }
  const uint32_t count = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  for (uint32_t i = count - 1; i > 0; --i, character >>= 6)
    bytes[i] = static_cast<char>(0x80 | (character & 0x3f));
  bytes[0] = static_cast<char>(0xf00 >> count | character);
  return count;
}

} // namespace

Characters charactersOf(const Layout &layout, uint64_t string) noexcept {
  if (string == 0)
    return {};
  const State state = stateOf(valueAt<uint32_t>(string, layout.text_state));
  if (!state.is_compact || (state.bytes_each != 1 && state.bytes_each != 2 && state.bytes_each != 4))
    return {};
  return {string + (state.is_ascii ? layout.text_data : layout.wide_text_data),
          valueAt<uint64_t>(string, layout.text_length), state.bytes_each};
}

std::string_view textOf(const Layout &layout, uint64_t string, std::span<char> room) noexcept {
  const Characters characters = charactersOf(layout, string);
  uint64_t used = 0;
  for (uint64_t i = 0; characters.bytes_each != 0 && i < characters.count; ++i) {
    char bytes[4];
    const uint32_t count = encode(characterAt(characters, i), bytes);
    if (count > room.size() - used)
      break;
    for (uint32_t byte = 0; byte < count; ++byte)
      room[used++] = bytes[byte];
  }
  return {room.data(), used};
}

std::string_view copiedTextOf(const Layout &layout, uint64_t string, std::span<char> room) noexcept {
  constexpr uint64_t kHeaderBytes = 64; // the larger of both headers is at most this size, and often a text fits, too
  alignas(8) unsigned char copy[kHeaderBytes + kMostCopiedBytes] = {};
  uint64_t bytes = sizeof copy;
  while (bytes > kHeaderBytes / 2 && !unwind::copyIfThere(string, copy, bytes)) // the next page may not exist
    bytes -= 16;
  const auto at = reinterpret_cast<uint64_t>(copy);
  const Characters characters = charactersOf(layout, at);
  const uint64_t size = characters.count * characters.bytes_each;
  if (characters.bytes_each == 0 || characters.count > kMostCopiedBytes || characters.at - at + size > bytes)
    return {};
  return textOf(layout, at, room);
}

} // namespace msleaks::runtime::python
