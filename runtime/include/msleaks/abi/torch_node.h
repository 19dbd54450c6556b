// The label of events Counter that name the node of PyTorch's backward pass that a thread evaluates. The value is the
// address of the node; 0 = the thread evaluates none.
#pragma once

namespace msleaks::abi {

inline constexpr char kTorchNodeLabel[] = "pytorch@node";

} // namespace msleaks::abi
