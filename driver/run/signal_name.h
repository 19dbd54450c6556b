// Converts names of signals to their numbers.
#pragma once

#include <string>

namespace msleaks::driver {

// Returns the signal for "USR1", "SIGUSR1", "10" or "RTMIN+2"; 0: there is no such signal, or it cannot be waited for.
int signalOf(const std::string &name);

} // namespace msleaks::driver
