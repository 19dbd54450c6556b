// Writes a note to the session's log: what could not be recorded, and why. Or it only counts a lost event. The runtime
// never prints.
#pragma once

extern "C" {
[[gnu::visibility("default"), gnu::cold]] void __msl_note(const char *text) noexcept;
[[gnu::visibility("default"), gnu::cold]] void __msl_lost() noexcept; // counts an event as dropped
}
