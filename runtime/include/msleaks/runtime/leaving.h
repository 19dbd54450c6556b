// Reports programs that msleaks cannot record, since their environment does not name the session. Such a program
// replaces this process by an exec, or runs in a child of this process.
#pragma once

#include <cstdint>

extern "C" {
// Creates this process' files, if the process has a session and no files yet. So the collector also finds a program
// that records no event.
[[gnu::visibility("default")]] void __msl_attach() noexcept;
// Reports that this process calls exec. `followed` is true if the new environment names the session. If the exec fails,
// pass the returned ticket to __msl_stayed.
[[gnu::visibility("default")]] uint32_t __msl_leaving(const char *program, bool followed) noexcept;
[[gnu::visibility("default")]] void __msl_stayed(uint32_t ticket) noexcept;
// Makes another user the owner of the process' files. This user may then create more files in the session. Call this
// before a process of root becomes this user.
[[gnu::visibility("default")]] void __msl_becomes_user(uint32_t user) noexcept;
// Makes the child of a _Fork request new counters, since _Fork runs no fork handlers. Call this in the child.
[[gnu::visibility("default")]] void __msl_forked() noexcept;
// Reports a child that was started with an environment that does not name the session.
[[gnu::visibility("default")]] void __msl_unfollowed(uint32_t pid, const char *program) noexcept;
}
