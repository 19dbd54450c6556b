// Records the objects of a Python without the global lock. Such a Python takes them from an allocator of its own, so
// malloc's hooks do not see them. The runtime stands at the door of this allocator. It records each request of more
// than 512 bytes, and a sample of the smaller ones (sampled_objects.h). The memory stays where Python's allocator puts
// it: Python's garbage collector walks through the pages of its allocator.
#pragma once

namespace msleaks::runtime::python {

// Replaces Python's functions, if Python uses its usual ones. `is_sampled`: small requests are sampled.
void recordUnlockedObjects(bool is_sampled) noexcept;

} // namespace msleaks::runtime::python
