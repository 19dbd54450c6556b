// A note for the session's log: what could not be recorded, and why; or only a count. Nothing is ever printed.
#pragma once

extern "C" {
[[gnu::visibility("default"), gnu::cold]] void __msl_note(const char *text) noexcept;
[[gnu::visibility("default"), gnu::cold]] void __msl_lost() noexcept; // an event, which counts as dropped
}
