// The label of events Counter that announce a tensor of PyTorch in float64. The value is the size of its memory in
// bytes. The thread's next block of this size is the memory of the tensor.
#pragma once

#include <cstdint>

namespace msleaks::abi {

inline constexpr char kTorchFloat64Label[] = "pytorch@float64";
inline constexpr uint64_t kLeastFloat64Bytes = 4096; // smaller tensors are not announced

} // namespace msleaks::abi
