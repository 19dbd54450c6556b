// Hooks of Ascend's driver for physical memory. A program maps it to addresses that it has reserved, as torch_npu does
// for expandable segments. hal.cpp hooks halMemCreate, which allocates the memory.
#include "ascend/hal.h"
#include "devices/memory.h"

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

constexpr auto kAcl = abi::Family::Acl;

// The row of the body, which adds a size.
struct Unmap {
  static constexpr abi::Symbol kRow = {.name = "halMemUnmap",
                                       .verb = abi::Verb::Show,
                                       .family = kAcl,
                                       .heap = abi::Heap::Device,
                                       .size = abi::Position(1),
                                       .address = abi::Position(0),
                                       .status = true};
};

// The driver unmaps the whole range that begins at the address. A report finds the range by its first byte.
constexpr auto kUnmap = [](auto real, void *caller, void *address) {
  const auto without_size = [=](void *, size_t) { return real(address); };
  return hook::callRecorded<Unmap>(without_size, caller, address, size_t{1});
};

constexpr auto kImport = [](auto real, void *, uint64_t shared, uint32_t device, void **handle) {
  return afterUnseen<kAcl>(real(shared, device, handle), handle);
};

} // namespace

#define MSL_PART_HAL_PHYSICAL
#include "msleaks/abi/functions/acl.def"
