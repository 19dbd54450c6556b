// Hooks of OpenCL's functions that make images and parts of buffers. The driver is asked for the size of an image
// (clGetMemObjectInfo), because its rows may be padded. A part of a buffer, or an image of a buffer, has no memory of
// its own: it shows the buffer's memory.
#include "opencl/calls.h"

using namespace msleaks;
using namespace msleaks::hooks::cl;

namespace {

// A row for a function whose last parameter points to the status. The size follows it (hook::callSized).
struct Image {
  static constexpr abi::Symbol kRow = {.name = "clCreateImage",
                                       .verb = abi::Verb::Alloc,
                                       .family = abi::Family::OpenCl,
                                       .heap = abi::Heap::Device,
                                       .flags = abi::flagsOf(abi::ResultKind::Handle),
                                       .result = {abi::ResultKind::Handle, abi::Position(-2)},
                                       .size = abi::Position(-1)};
};

// The layout of cl_image_desc.
struct Description {
  unsigned type;
  size_t width, height, depth, count, row_pitch, slice_pitch;
  unsigned levels, samples;
  Mem of;
};
// The layout of cl_buffer_region.
struct Region {
  size_t origin, bytes;
};

// The object whose memory a new object shows, and the first byte that it shows. `of` null: the new object has its own
// memory.
struct Shown {
  Mem of = nullptr;
  uint64_t offset = 0;
};
Shown shownBy(const Description *description) { return {description != nullptr ? description->of : nullptr, 0}; }
Shown shownBy(Mem whole, unsigned type, const Region *part) {
  constexpr unsigned kRegion = 0x1220; // CL_BUFFER_CREATE_TYPE_REGION
  return {whole, type == kRegion && part != nullptr ? part->origin : 0};
}

MSL_ASKED(get_info, "libOpenCL", "clGetMemObjectInfo")

// Returns the size of an image; 0: the driver does not return it.
uint64_t bytesOf(Mem image) {
  constexpr unsigned kSize = 0x1102; // CL_MEM_SIZE
  size_t bytes = 0;
  const hook::OwnWork own;
  return image != nullptr && infoOf(get_info, image, kSize, sizeof bytes, &bytes) ? bytes : 0;
}

// Records that the new object shows another one. A use of the new object counts as a use of the shown one, which lives
// at least as long.
template <class... Parameters>
Mem showRecorded(const Shown &shown, Mem (*real)(Parameters...), void *caller, Parameters... parameters) {
  constexpr uint32_t kTraits =
      abi::Traits(abi::Verb::Show, abi::Family::OpenCl, abi::Heap::Device, abi::kFromHook).packed();
  constexpr uint64_t kHandleBytes = 1; // a handle is no address: see analysis/live/device_ranges.h
  hook::Call call{kTraits, hook::kPass, reinterpret_cast<uint64_t>(caller), 0, 0, 0};
  __msl_hook_enter(&call);
  if (call.answer == hook::kPass)
    return real(parameters...);
  __msl_hook_begin(&call);
  const Mem made = real(parameters...);
  __msl_hook_end(&call);
  if (call.answer == hook::kRecord && made != nullptr)
    __msl_on_mapped(call.site, kTraits, made, kHandleBytes, shown.of, shown.offset);
  return made;
}

// A function that makes an object. kShown returns what the new object shows.
template <auto kShown>
constexpr auto kObject = [](auto real, void *caller, auto... parameters) {
  const Shown shown = kShown(parameters...);
  return shown.of != nullptr ? showRecorded(shown, real, caller, parameters...)
                             : hook::callSized<Image>(real, caller, bytesOf, parameters...);
};
constexpr auto kImage = kObject<[](Context, Bits, const void *, const Description *description, void *, int *) {
  return shownBy(description);
}>;
constexpr auto kImageWithProperties =
    kObject<[](Context, const uint64_t *, Bits, const void *, const Description *description, void *, int *) {
      return shownBy(description);
    }>;
constexpr auto kOldImage = kObject<[](auto...) { return Shown{}; }>;
constexpr auto kPart =
    kObject<[](Mem buffer, Bits, unsigned type, const Region *region, int *) { return shownBy(buffer, type, region); }>;

} // namespace

#define MSL_PART_IMAGES
#include "msleaks/abi/functions/opencl.def"
