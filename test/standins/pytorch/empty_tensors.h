// Imitates the functions by which PyTorch makes tensors without content, with PyTorch's names and calling conventions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace c10 {

template <class T> struct ArrayRef {
  const T *data;
  size_t length;
};
struct Allocator {
  virtual ~Allocator() = default;
  virtual void *allocate(size_t bytes) = 0;
};
struct DispatchKeySet {
  uint64_t bits;
};
enum class ScalarType : int8_t { Float = 6, Double = 7 };
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast };

// The optional of older versions.
template <class T> struct optional {
  bool is_set;
  T value;
};

} // namespace c10

namespace at {

// A pointer to the tensor, which the last copy frees. The stand-in only counts.
class TensorBase {
public:
  explicit TensorBase(void *memory) : memory_(memory) { ++alive; }
  TensorBase(const TensorBase &other) : memory_(other.memory_) { ++alive; }
  TensorBase &operator=(const TensorBase &) = delete;
  ~TensorBase() { --alive; }
  void *memory() const { return memory_; }
  static int alive;

private:
  void *memory_;
};

// The arguments of the last call of a function below.
struct Received {
  c10::ArrayRef<long> sizes, strides;
  c10::Allocator *allocator;
  uint64_t keys;
  int type, format; // -1: no format
};
extern Received received;

namespace detail {

// Throw a std::runtime_error if the allocator returns null.
TensorBase empty_generic(c10::ArrayRef<long> sizes, c10::Allocator *, c10::DispatchKeySet, c10::ScalarType,
                         c10::optional<c10::MemoryFormat>);
TensorBase empty_generic(c10::ArrayRef<long> sizes, c10::Allocator *, c10::DispatchKeySet, c10::ScalarType,
                         std::optional<c10::MemoryFormat>);
TensorBase empty_strided_generic(c10::ArrayRef<long> sizes, c10::ArrayRef<long> strides, c10::Allocator *,
                                 c10::DispatchKeySet, c10::ScalarType);

} // namespace detail
} // namespace at
