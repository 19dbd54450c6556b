// Samples the small objects of a Python program (msleaks/abi/python_sample.h). The runtime stands at the door of
// Python's allocator: it replaces the functions that allocate, and gives a sampled request to malloc. It does not
// replace the function that frees. Python's own function passes a block that is in no arena to free().
#pragma once

namespace msleaks::runtime::python {

// Replaces Python's functions, if the session wants this and Python uses its usual ones. Call it in a thread that runs
// Python code, while Python does not finalize. If this thread does not hold Python's global lock, does nothing. For a
// Python without this lock, calls recordUnlockedObjects() (unlocked_objects.h), whatever the session wants.
void sampleObjects() noexcept;

} // namespace msleaks::runtime::python
