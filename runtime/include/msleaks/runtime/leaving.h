// Reports programs that msleaks cannot record, since their environment does not name the session. Such a program runs
// in this process after an exec, or in a child process.
#pragma once

#include <cstdint>

extern "C" {
// Creates this process' files if the process has a session and no files yet. With these files, the collector also finds
// a program that records no event.
[[gnu::visibility("default")]] void __msl_attach() noexcept;
// Reports that this process is about to call exec. `followed` is true if the new environment names the session. If the
// exec fails, pass the returned ticket to __msl_stayed.
[[gnu::visibility("default")]] uint32_t __msl_leaving(const char *program, bool followed) noexcept;
[[gnu::visibility("default")]] void __msl_stayed(uint32_t ticket) noexcept;
// Makes `user` the owner of the process' files, and allows this user to create more files in the session. Call this
// before a root process becomes this user.
[[gnu::visibility("default")]] void __msl_becomes_user(uint32_t user) noexcept;
// Makes the calling thread request new counters of edges. Call this in the child of a _Fork, since _Fork runs no fork
// handlers.
[[gnu::visibility("default")]] void __msl_forked() noexcept;
// Reports a child that was started with an environment that does not name the session.
[[gnu::visibility("default")]] void __msl_unfollowed(uint32_t pid, const char *program) noexcept;
}
