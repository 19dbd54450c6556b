// kind: overallocated
// saves: 24300000
// A parser reserves room for 1,000 values in each of its arrays, most of which have a dozen. The change lets an array
// grow as it needs.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

struct Array {
  std::vector<uint64_t> values;
};

[[gnu::noinline]] static void parse(Array &array, uint64_t number) {
#ifndef MENDED
  array.values.reserve(1000); // guilty
#endif
  for (uint64_t i = 0; i < 8 + number % 16; ++i)
    array.values.push_back(number + i + 1);
}

int main() {
  std::vector<Array> arrays(3080);
  for (uint64_t number = 0; number < arrays.size(); ++number)
    parse(arrays[number], number);
  std::this_thread::sleep_for(std::chrono::milliseconds(100)); // the program goes on
  uint64_t sum = 0;
  for (const Array &array : arrays)
    for (const uint64_t value : array.values)
      sum += value;
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
