// The part of a PyTorch program that an owner such as "pytorch@backward@AddmmBackward0" names.
#pragma once

#include <optional>
#include <string_view>

namespace msleaks::analysis::inline findings {

struct TorchOwner {
  std::string_view phase; // "forward", "backward" or "optimizer"
  std::string_view
      name; // the operator, the node of the backward pass, or the method of the optimizer; empty = not known
};

// Returns nothing for the owner of other memory.
std::optional<TorchOwner> torchOwnerOf(std::string_view owner);

} // namespace msleaks::analysis::inline findings
