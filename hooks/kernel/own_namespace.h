// The pid namespace of this process: the kernel's programs see the numbers of the first namespace.
#pragma once

#include "kernel/records.h"

namespace msleaks::kernel {

// Sets the fields about the namespace. In the first namespace they stay 0.
void describeNamespace(Settings &);

} // namespace msleaks::kernel
