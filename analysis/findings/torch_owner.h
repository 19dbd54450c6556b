// The part of a PyTorch program that an owner such as "pytorch@backward@AddmmBackward0" names.
#pragma once

#include <optional>
#include <string_view>

namespace msleaks::analysis::inline findings {

// The phase is "forward", "backward" or "optimizer". The name is an operator, a node of the backward pass, or a method
// of the optimizer; empty = not known.
struct TorchOwner {
  std::string_view phase, name;
};

// Returns nothing for the owner of other memory.
std::optional<TorchOwner> torchOwnerOf(std::string_view owner);

} // namespace msleaks::analysis::inline findings
