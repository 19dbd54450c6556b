// Converts names of signals to their numbers.
#pragma once

#include <string>

namespace msleaks::driver {

// Returns the number of a signal such as "USR1", "SIGUSR1", "10" or "RTMIN+2". Returns 0 if there is no such signal, or
// if msleaks-run cannot wait for it.
int signalOf(const std::string &name);

} // namespace msleaks::driver
