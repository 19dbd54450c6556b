// Hooks of Ascend's driver. Some libraries of CANN (communication, image processing, the runtime's pools) allocate from
// it without ACL. If a function of ACL calls the driver, only the call of ACL is recorded. The bits of a word say where
// the memory lies and which module asks for it:
//
//   0..9 device · 10..13 kind of memory: 0 shared with the host, 1 device, 2 host, 3 DVPP · 17 pages of 2 MiB ·
//   31 pages of 1 GiB · 56..63 module
//
// The module becomes the owner of the block. If the pages are large, the owner's name contains their size. An unknown
// kind of memory counts as the device's, and the name of an unknown module is "invalid".
#include "ascend/hal.h"
#include "devices/memory.h"

#include "msleaks/api.h"
#include "msleaks/runtime/record.h"

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
enum class Pages : uint32_t { Usual, Huge, Giant };
constexpr const char *kPages[] = {"", "@pages of 2 MiB", "@pages of 1 GiB"};
constexpr uint32_t kHccl = 3, kDvpp = 6;

struct Wish {
  uint32_t device;
  Side side;
  uint32_t module;
  Pages pages;
};

constexpr Wish wishOf(uint64_t flag) {
  const Pages huge = (flag >> 17 & 1) != 0 ? Pages::Huge : Pages::Usual;
  return {static_cast<uint32_t>(flag & 0x3ff), static_cast<Side>(flag >> 10 & 0xf), static_cast<uint32_t>(flag >> 56),
          (flag >> 31 & 1) != 0 ? Pages::Giant : huge};
}

// The struct that describes the place of physical memory.
struct Property {
  uint32_t side; // 0 host, 1 device, 2 a node of the host
  uint32_t device;
  uint32_t module;
  uint32_t pages;
  uint32_t memory_type;
  uint64_t reserve;
};

constexpr Wish wishOf(const Property &property) {
  constexpr uint32_t kDevice = 1;
  const bool is_known = property.pages < std::size(kPages);
  return {property.device, property.side == kDevice ? Side::Device : Side::Host, property.module,
          is_known ? static_cast<Pages>(property.pages) : Pages::Usual};
}

// An owner for each module and each size of pages: "HCCL@pages of 2 MiB".
struct Owners {
  constexpr Owners() {
    for (size_t module = 0; module < std::size(kModules); ++module)
      for (size_t pages = 0; pages < std::size(kPages); ++pages) {
        char *const text = texts[module][pages];
        append(append(text, kModules[module]), kPages[pages]);
        of[module][pages].text = text;
      }
  }
  static constexpr char *append(char *to, const char *text) {
    for (; *text != 0; ++text)
      *to++ = *text;
    return to;
  }
  char texts[std::size(kModules)][std::size(kPages)][32] = {};
  hook::Owner of[std::size(kModules)][std::size(kPages)] = {};
};
constinit Owners owners;

hook::Owner &ownerOf(const Wish &wish) {
  const size_t module = wish.module < std::size(kModules) ? wish.module : std::size(kModules) - 1;
  return owners.of[module][static_cast<uint32_t>(wish.pages)];
}

// Whether no hook sees the uses of the memory. This is so for communication and image processing.
bool isUsedUnseen(const Wish &wish) { return wish.module == kHccl || wish.module == kDvpp; }

template <abi::Heap kHeap> using Take = hooks::Take<abi::Family::Acl, 1, kHeap>;
constexpr uint32_t kTraitsOfTake =
    abi::Traits(abi::Verb::Alloc, abi::Family::Acl, abi::Heap::Device, abi::kFromHook).packed();

template <class Real, class... Parameters>
int takeRecorded(Real real, void *caller, const Wish &wish, Parameters... parameters) {
  const auto owned = [&](Parameters... given) {
    if (__msl_hook_owner != nullptr)
      __msl_hook_owner(kTraitsOfTake, &ownerOf(wish), isUsedUnseen(wish));
    return real(given...);
  };
  switch (wish.side) {
  case Side::Host:
    return hook::callRecorded<Take<abi::Heap::Pinned>>(owned, caller, parameters...);
  case Side::Shared:
    return hook::callRecorded<Take<abi::Heap::Managed>>(owned, caller, parameters...);
  default:
    return hook::callRecorded<Take<abi::Heap::Device>>(owned, caller, parameters...);
  }
}

// A handle is not the address of the memory. At the address that equals the handle, the driver may have a block of its
// own, which it allocates during this call. So the call is announced, but not opened: the runtime must not take a block
// that was allocated during the call for the result.
template <class Real, class... Parameters>
int createOfHost(Real real, void *caller, const Wish &wish, void **handle, size_t size, Parameters... parameters) {
  constexpr abi::Symbol kRow = Take<abi::Heap::Pinned>::kRow;
  constexpr uint32_t kTraits = abi::Traits(kRow.verb, kRow.family, kRow.heap, abi::kFromHook).packed();
  hook::Call call{kTraits, hook::kPass, reinterpret_cast<uint64_t>(caller), 0, 0, 0};
  __msl_hook_enter(&call);
  if (call.answer != hook::kRecord)
    return real(handle, size, parameters...);
  __msl_announce(call.site, kTraits);
  __msl_hook_begin(&call);
  const int status = real(handle, size, parameters...);
  __msl_hook_end(&call);
  msl_owner_push(ownerOf(wish).text);
  __msl_on_alloc_out(call.site, kTraits, handle, size, status);
  msl_owner_pop();
  return status;
}

// Whether the call is not recorded, because it is inside another call or the recording is stopped. Then the owner is
// not needed.
bool isLeftOut() { return runtime::isStopped() || runtime::isInside(__msl_thread, abi::Family::Acl); }

constexpr auto kAlloc = [](auto real, void *caller, void **block, unsigned long long size, unsigned long long flag) {
  if (isLeftOut())
    return real(block, size, flag);
  const Wish wish = wishOf(flag);
  const hook::WithDevice device(abi::Family::Acl, wish.device);
  return takeRecorded(real, caller, wish, block, size, flag);
};

constexpr auto kCreate = [](auto real, void *caller, void **handle, size_t size, const Property *property,
                            uint64_t flag) {
  if (isLeftOut() || property == nullptr) // the driver reports the error
    return real(handle, size, property, flag);
  const Wish wish = wishOf(*property);
  const hook::WithDevice device(abi::Family::Acl, wish.device);
  if (wish.side == Side::Host)
    return createOfHost(real, caller, wish, handle, size, property, flag);
  const int status = takeRecorded(real, caller, wish, handle, size, property, flag);
  if (status == 0)
    hooks::endUnseen(abi::Family::Acl, reinterpret_cast<uint64_t>(*handle));
  return status;
};

} // namespace

#define MSL_PART_HAL
#include "msleaks/abi/functions/acl.def"
