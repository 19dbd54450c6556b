// Files in shared memory belong to other processes: one may be truncated under us, or have a hole that a full file
// system cannot fill. Touching such a page raises SIGBUS, which would end us, and with us the user's exit status.
#pragma once

#include <cstdint>

namespace msleaks::analysis::inline reach {

// From now on, for the whole process, a page of a mapping that cannot be had reads as zeros, and what is written to it
// is lost. Zeros are nothing to any reader of an arena.
void surviveLostPages();
// How often that happened.
uint64_t lostPages();

} // namespace msleaks::analysis::inline reach
