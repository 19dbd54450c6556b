// The bytes of the BPF objects, which the build embeds. Empty if msleaks was built without them.
#pragma once

#include <cstddef>
#include <span>

namespace msleaks::kernel::objects {

std::span<const std::byte> processes();
std::span<const std::byte> syscalls();
std::span<const std::byte> pci();
std::span<const std::byte> fence();
std::span<const std::byte> sched();
std::span<const std::byte> faults();
std::span<const std::byte> block();

} // namespace msleaks::kernel::objects
