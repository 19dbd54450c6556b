// What a process says before it becomes a program that may not be seen, or has started one.
#pragma once

#include <cstdint>

extern "C" {
// Makes this process' files, if it has a session and none yet: so a program that records nothing is seen.
[[gnu::visibility("default")]] void __msl_attach() noexcept;
// An exec comes next. `followed`: its environment names the session. The ticket is for __msl_stayed, when it failed.
[[gnu::visibility("default")]] uint32_t __msl_leaving(const char *program, bool followed) noexcept;
[[gnu::visibility("default")]] void __msl_stayed(uint32_t ticket) noexcept;
// This process, of root, is about to become another user: that user gets its files, and may make more in the session.
[[gnu::visibility("default")]] void __msl_becomes_user(uint32_t user) noexcept;
// This is the child of a _Fork, which calls no handlers.
[[gnu::visibility("default")]] void __msl_forked() noexcept;
// A child was started with an environment that does not name the session.
[[gnu::visibility("default")]] void __msl_unfollowed(uint32_t pid, const char *program) noexcept;
}
