// Names the reason why the kernel refused a mechanism (docs/kernel.md lists the codes).
#pragma once

#include <string>
#include <string_view>

namespace msleaks::kernel {

std::string reasonOf(std::string_view mechanism, int error);

} // namespace msleaks::kernel
