// Something that could not be seen, and why, for the session's log; or only how often. Nothing is ever printed.
#pragma once

extern "C" {
[[gnu::visibility("default"), gnu::cold]] void __msl_note(const char *text) noexcept;
[[gnu::visibility("default"), gnu::cold]] void __msl_lost() noexcept; // an event, which counts as dropped
}
