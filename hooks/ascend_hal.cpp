// Ascend's driver: what CANN's own libraries (communication, image processing, the runtime's pools) take from it past
// ACL. A call from inside one of ACL's is that one's. Where the memory lies, and for whom it is, stands in the bits of
// a word:
//
//   0..9 device · 10..13 0 shared with the host, 1 device, 2 host, 3 DVPP · 17 pages of 2 MiB · 31 of 1 GiB ·
//   56..63 module
//
// The module becomes the owner of the block.
#include "msleaks/hook.h"

#include "msleaks/api.h"

#include <cstddef>
#include <iterator>

using namespace msleaks;

namespace {

constexpr const char *kModules[] = {
    "SLOG",     "IDEDD",     "IDEDH",      "HCCL",       "FMK",        "HIAIENGINE",  "DVPP",
    "RUNTIME",  "CCE",       "HDC",        "DRV",        "MDCFUSION",  "MDCLOCATION", "MDCPERCEPTION",
    "MDCFSM",   "MDCCOMMON", "MDCMONITOR", "MDCBSWP",    "MDCDEFAULT", "MDCSC",       "MDCPNC",
    "MLL",      "DEVMM",     "KERNEL",     "LIBMEDIA",   "CCECPU",     "ASCENDDK",    "ROS",
    "HCCP",     "ROCE",      "TEFUSION",   "PROFILING",  "DP",         "APP",         "TS",
    "TSDUMP",   "AICPU",     "LP",         "TDT",        "FE",         "MD",          "MB",
    "ME",       "IMU",       "IMP",        "GE",         "MDCFUSA",    "CAMERA",      "ASCENDCL",
    "TEEOS",    "ISP",       "SIS",        "HSM",        "DSS",        "PROCMGR",     "BBOX",
    "AIVECTOR", "TBE",       "FV",         "MDCMAP",     "TUNE",       "HSS",         "FFTS",
    "OP",       "UDF",       "HICAID",     "TSYNC",      "AUDIO",      "TPRT",        "ASCENDCKERNEL",
    "ASYS",     "ATRACE",    "RTC",        "SYSMONITOR", "AML",        "invalid"};
static_assert(std::size(kModules) == 76);

enum class Side : uint32_t { Shared, Device, Host, Dvpp };

struct Wish {
  uint32_t device;
  Side side;
  uint32_t module;
};

constexpr Wish wishOf(uint64_t flag) {
  return {static_cast<uint32_t>(flag & 0x3ff), static_cast<Side>(flag >> 10 & 0xf), static_cast<uint32_t>(flag >> 56)};
}

// The owner of what is allocated meanwhile.
class WithOwner {
public:
  explicit WithOwner(uint32_t module) {
    msl_owner_push(kModules[module < std::size(kModules) ? module : std::size(kModules) - 1]);
  }
  ~WithOwner() { msl_owner_pop(); }
  WithOwner(const WithOwner &) = delete;
  WithOwner &operator=(const WithOwner &) = delete;
};

template <abi::Heap kHeap> struct Take {
  static constexpr abi::Symbol kRow = {.name = "halMemAlloc",
                                       .verb = abi::Verb::Alloc,
                                       .family = abi::Family::Acl,
                                       .heap = kHeap,
                                       .result = {abi::ResultKind::Out, abi::Position(0)},
                                       .size = abi::Position(1)};
};
struct Give {
  static constexpr abi::Symbol kRow = {.name = "halMemFree",
                                       .verb = abi::Verb::Free,
                                       .family = abi::Family::Acl,
                                       .heap = abi::Heap::Device,
                                       .address = abi::Position(0),
                                       .status = true};
};

// What the driver says where it cannot do something.
constexpr int kNotSupported = 0xfffe;

// How a property names the place of physical memory.
struct Property {
  uint32_t side; // 0 host, 1 device
  uint32_t device;
  uint32_t module;
  uint32_t page_type, memory_type;
  uint64_t reserve;
};

template <class Real, class... Parameters>
int takeRecorded(Real real, void *caller, const Wish &wish, Parameters... parameters) {
  const hook::WithDevice device(abi::Family::Acl, wish.device);
  const WithOwner owner(wish.module);
  switch (wish.side) {
  case Side::Host:
    return hook::callRecorded<Take<abi::Heap::Pinned>>(real, caller, parameters...);
  case Side::Shared:
    return hook::callRecorded<Take<abi::Heap::Managed>>(real, caller, parameters...);
  default:
    return hook::callRecorded<Take<abi::Heap::Device>>(real, caller, parameters...);
  }
}

} // namespace

#define MSL_HAL_FUNCTION(name, parameters)                                                                             \
  extern "C" [[gnu::visibility("default")]] int name parameters;                                                       \
  [[gnu::used, gnu::section("msl_hooks")]] static hook::Function function_##name = {                                   \
      "libascend_hal", #name, reinterpret_cast<void *>(&name), nullptr};

MSL_HAL_FUNCTION(halMemAlloc, (void **block, unsigned long long size, unsigned long long flag))
MSL_HAL_FUNCTION(halMemCreate, (void **handle, size_t size, const Property *property, uint64_t flag))

extern "C" int halMemAlloc(void **block, unsigned long long size, unsigned long long flag) {
  auto *real = reinterpret_cast<decltype(&halMemAlloc)>(hook::realOf(function_halMemAlloc));
  if (real == nullptr)
    return kNotSupported;
  if (hook::own_library.state != hook::kAccepted)
    return real(block, size, flag);
  return takeRecorded(real, __builtin_return_address(0), wishOf(flag), block, size, flag);
}

extern "C" int halMemCreate(void **handle, size_t size, const Property *property, uint64_t flag) {
  auto *real = reinterpret_cast<decltype(&halMemCreate)>(hook::realOf(function_halMemCreate));
  if (real == nullptr)
    return kNotSupported;
  if (hook::own_library.state != hook::kAccepted || property == nullptr)
    return real(handle, size, property, flag);
  const Wish wish{property->device, property->side == 0 ? Side::Host : Side::Device, property->module};
  return takeRecorded(real, __builtin_return_address(0), wish, handle, size, property, flag);
}

MSL_HOOK_AS(Give, libascend_hal, int, halMemFree, (void *))
MSL_HOOK_AS(Give, libascend_hal, int, halMemRelease, (void *))
