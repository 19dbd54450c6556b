// The files in shared memory belong to other processes. A process may truncate such a file, or the file may have a hole
// that a full file system cannot fill. An access to such a page raises SIGBUS, which would end msleaks, and the user
// would not get the program's exit status.
#pragma once

#include <cstdint>

namespace msleaks::analysis::inline reach {

// From this call on, a missing page of any mapping in this process reads as zeros, and what is written to it is lost.
// Every reader of an arena takes zeros for nothing.
void surviveLostPages();
// Returns how often a page was missing.
uint64_t lostPages();

} // namespace msleaks::analysis::inline reach
