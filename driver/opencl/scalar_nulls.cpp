#include "scalar_nulls.h"

#include <cstddef>
#include <unordered_map>

namespace msleaks::driver {
namespace {

constexpr uint32_t kMagic = 0x07230203;
constexpr size_t kHeaderWords = 5;

enum Opcode : uint32_t {
  kTypeBool = 20,
  kTypeInt = 21,
  kTypeFloat = 22,
  kConstantFalse = 42,
  kConstant = 43,
  kConstantNull = 46,
};

constexpr uint32_t firstWord(size_t words, Opcode opcode) { return static_cast<uint32_t>(words) << 16 | opcode; }

} // namespace

std::vector<uint32_t> withoutScalarNulls(const std::vector<uint32_t> &module) {
  if (module.size() < kHeaderWords || module[0] != kMagic)
    return {};
  std::vector<uint32_t> out(module.begin(), module.begin() + kHeaderWords);
  std::unordered_map<uint32_t, uint32_t> widths; // bits of each scalar type, by the type's id
  for (size_t at = kHeaderWords; at < module.size();) {
    const size_t words = module[at] >> 16;
    const uint32_t opcode = module[at] & 0xffff;
    if (words == 0 || words > module.size() - at)
      return {};
    const uint32_t *const operands = &module[at] + 1;
    if (opcode == kTypeBool && words >= 2)
      widths[operands[0]] = 1;
    else if ((opcode == kTypeInt || opcode == kTypeFloat) && words >= 3)
      widths[operands[0]] = operands[1];
    const auto width = opcode == kConstantNull && words == 3 ? widths.find(operands[0]) : widths.end();
    if (width == widths.end()) {
      out.insert(out.end(), &module[at], &module[at] + words);
    } else { // keeps type and result id; a bool has no words for its value
      const size_t values = width->second == 1 ? 0 : (width->second + 31) / 32;
      out.push_back(firstWord(3 + values, values == 0 ? kConstantFalse : kConstant));
      out.insert(out.end(), {operands[0], operands[1]});
      out.insert(out.end(), values, 0);
    }
    at += words;
  }
  return out;
}

} // namespace msleaks::driver
