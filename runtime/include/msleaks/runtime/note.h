// Reports what could not be recorded, by a note in the session's log or by the count of lost events. The runtime never
// prints.
#pragma once

extern "C" {
[[gnu::visibility("default"), gnu::cold]] void __msl_note(const char *text) noexcept;
[[gnu::visibility("default"), gnu::cold]] void __msl_lost() noexcept; // counts an event as dropped
}
