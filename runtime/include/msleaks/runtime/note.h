// Something that could not be seen, and why, for the session's log. Nothing is ever printed.
#pragma once

extern "C" {
[[gnu::visibility("default"), gnu::cold]] void __msl_note(const char *text) noexcept;
}
