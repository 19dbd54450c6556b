// Makes tensors of PyTorch (test/standins/pytorch) of several types and sizes. Prints what PyTorch's functions got and
// returned. Then prints the sizes in bytes of the tensors that msleaks should announce.
#include "empty_tensors.h"

#include <cerrno>
#include <cstdio>
#include <initializer_list>
#include <stdexcept>
#include <vector>

namespace {

using c10::ScalarType, c10::MemoryFormat;

struct Allocator final : c10::Allocator {
  void *allocate(size_t) override { return memory; }
  void *memory = this;
} allocator;

constexpr c10::DispatchKeySet kKeys{0x8000'0000'0000'4001};
std::vector<unsigned long long> announced;

void print(const char *function, const at::TensorBase &tensor, const long *sizes, const long *strides) {
  const at::Received &got = at::received;
  std::printf("%s %d %zu %d %zu %d %d %llx %d\n", function, got.sizes.data == sizes, got.sizes.length,
              got.strides.data == strides, got.strides.length, got.type, got.format,
              static_cast<unsigned long long>(got.keys), got.allocator == &allocator && tensor.memory() == &allocator);
}

void expect(ScalarType type, unsigned long long bytes) {
  if (type == ScalarType::Double && bytes >= 4096)
    announced.push_back(bytes);
}

void make(ScalarType type, std::vector<long> sizes, unsigned long long bytes) {
  const c10::ArrayRef<long> all{sizes.data(), sizes.size()};
  using Old = c10::optional<MemoryFormat>;
  using New = std::optional<MemoryFormat>;
  print("old", at::detail::empty_generic(all, &allocator, kKeys, type, Old{true, MemoryFormat::ChannelsLast}), all.data,
        nullptr);
  print("old", at::detail::empty_generic(all, &allocator, kKeys, type, Old{}), all.data, nullptr);
  print("new", at::detail::empty_generic(all, &allocator, kKeys, type, New(MemoryFormat::ChannelsLast)), all.data,
        nullptr);
  print("new", at::detail::empty_generic(all, &allocator, kKeys, type, New()), all.data, nullptr);
  for (int i = 0; i < 4; ++i)
    expect(type, bytes);
}

void makeStrided(ScalarType type, std::vector<long> sizes, std::vector<long> strides, unsigned long long bytes) {
  print("strided",
        at::detail::empty_strided_generic({sizes.data(), sizes.size()}, {strides.data(), strides.size()}, &allocator,
                                          kKeys, type),
        sizes.data(), strides.data());
  expect(type, bytes);
}

// PyTorch announces the tensor, and gets no memory for it.
void refuse() {
  const long size = 1000;
  allocator.memory = nullptr;
  try {
    at::detail::empty_generic({&size, 1}, &allocator, kKeys, ScalarType::Double, std::optional<MemoryFormat>());
  } catch (const std::runtime_error &error) {
    std::printf("%s\n", error.what());
  }
  allocator.memory = &allocator;
  expect(ScalarType::Double, 8000);
}

} // namespace

int main() {
  errno = 4711;
  for (const ScalarType type : {ScalarType::Double, ScalarType::Float}) {
    make(type, {512}, 4096);
    make(type, {511}, 4088);
    make(type, {10, 3, 100}, 24'000);
    make(type, {}, 8);
    make(type, {1 << 20, 0}, 0);
    make(type, {1L << 40, 1L << 40}, 0);
    make(type, {1L << 62}, 0);
    make(type, {-1, 1000}, 0);
    makeStrided(type, {100, 10}, {20, 1}, 8 * (99 * 20 + 9 + 1));
    makeStrided(type, {1000, 1000}, {0, 1}, 8000);
    makeStrided(type, {0, 1000}, {1000, 1}, 0);
    makeStrided(type, {1000, 1000}, {1000}, 0);
    makeStrided(type, {1L << 40, 1L << 40}, {1L << 40, 1}, 0);
  }
  refuse();
  std::printf("errno %d, alive %d\n", errno, at::TensorBase::alive);
  for (const unsigned long long bytes : announced)
    std::printf("%llu ", bytes);
  std::printf("\n");
}
