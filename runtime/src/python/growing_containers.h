// Records the number of items of containers that grow: a list that gets an item in each step probably keeps the blocks
// that stay behind. The containers are those that the user's own Python code can reach by a name now.
#pragma once

#include <cstdint>

namespace msleaks::runtime::python {

// Call this when a step begins. Looks at the variables of this thread's calls, and at their attributes and entries.
// Does so only in the steps 1, 2, 3, 4, 6, 8, 12, 16, … since the program's begin. Records a counter for each container
// that has grown since the last look: "python@items@NAME@FUNCTION@KIND@CLASS@FILE". The class is that of an item.
void lookAtContainers() noexcept;

} // namespace msleaks::runtime::python
