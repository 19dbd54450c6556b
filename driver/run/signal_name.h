// Signals as users name them.
#pragma once

#include <string>

namespace msleaks::driver {

// "USR1", "SIGUSR1", "10", "RTMIN+2" -> the signal; 0 = there is none of that name, or nobody can wait for it.
int signalOf(const std::string &name);

} // namespace msleaks::driver
