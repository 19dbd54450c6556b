// bench_aligning A B: aligns the lines of two files as `msleaks compare` aligns the names of launches. Prints how many
// lines are in one file only.
#include "analysis/compare/alignment.h"

#include <cstdio>
#include <fstream>
#include <string>
#include <unordered_map>
#include <vector>

using namespace msleaks::analysis;

namespace {

using Numbers = std::unordered_map<std::string, uint32_t>;

std::vector<uint32_t> namesOf(const char *file, Numbers &numbers) {
  std::vector<uint32_t> names;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    names.push_back(numbers.try_emplace(line, static_cast<uint32_t>(numbers.size())).first->second);
  return names;
}

} // namespace

int main(int count, char **arguments) {
  if (count != 3)
    return 2;
  Numbers numbers;
  const std::vector<uint32_t> first = namesOf(arguments[1], numbers), second = namesOf(arguments[2], numbers);
  const Alignment alignment = align(first, second);
  std::printf("%zu\n", first.size() + second.size() - 2 * alignment.equalCount());
  return alignment.coarse ? 3 : 0;
}
