// Containers of Python code that get items from step to step. The runtime counts the items of the containers that the
// user's code can reach by a name (runtime/src/python/growing_containers.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline findings {

struct GrowingContainer {
  std::string name, function;         // "self.losses", and the function that has the variable
  std::string kind, item_class, file; // "list", and the class of one item
  double items_per_step = 0;
};

class GrowingContainers {
public:
  // Takes a counter with this label, at the begin of the step with this number, counted from 0. Ignores other counters.
  void count(uint32_t process, std::string_view label, uint64_t items, uint64_t step);

  // The containers of the process that have grown in most looks, up to the last quarter of its steps. Those with
  // tensors come first, then those with the most items a step. Leaves out containers of numbers, and of texts if
  // `of_tensors` is set.
  std::vector<GrowingContainer> of(uint32_t process, uint64_t steps, bool of_tensors) const;

private:
  struct Counts {
    uint64_t first_items, first_step, last_items, last_step, times;
  };
  std::map<std::pair<uint32_t, std::string>, Counts> counts_; // by process and label
};

// Returns "The list `losses` in `main` gets 1 Tensor a step".
std::string sentenceOf(const GrowingContainer &);

// Returns how to keep less in such a container.
std::string_view remedyOf(const GrowingContainer &);

// Returns the sentence above and ", and probably keeps these tensors", or for several containers "Probably the list …
// or the dict … keeps these tensors". `what` is "these tensors". There must be a container.
std::string keptText(const std::vector<GrowingContainer> &, std::string_view what);

} // namespace msleaks::analysis::inline findings
