// Notes of a process before it becomes, or after it has started, a program that may not be recorded.
#pragma once

#include <cstdint>

extern "C" {
// Makes this process' files, if it has a session and no files yet. So a program that records nothing is seen.
[[gnu::visibility("default")]] void __msl_attach() noexcept;
// An exec comes next. `followed` tells whether its environment names the session. The ticket is for __msl_stayed, if
// the exec failed.
[[gnu::visibility("default")]] uint32_t __msl_leaving(const char *program, bool followed) noexcept;
[[gnu::visibility("default")]] void __msl_stayed(uint32_t ticket) noexcept;
// This process of root is about to become another user. That user gets the process' files, and may make more in the
// session.
[[gnu::visibility("default")]] void __msl_becomes_user(uint32_t user) noexcept;
// This is the child of a _Fork, which calls no handlers.
[[gnu::visibility("default")]] void __msl_forked() noexcept;
// A child was started with an environment that does not name the session.
[[gnu::visibility("default")]] void __msl_unfollowed(uint32_t pid, const char *program) noexcept;
}
