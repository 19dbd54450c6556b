"""Starts the recording of a session that was started with --start-paused."""
import msleaks

assert not msleaks.is_recording()
msleaks.mark("not recorded")
assert msleaks.start() and msleaks.is_recording()
msleaks.mark("recorded")
