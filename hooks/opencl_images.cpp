// Images of OpenCL. How large one is says the driver: its rows may be padded (clGetMemObjectInfo).
#include "msleaks/hook.h"

#include <cstddef>

using namespace msleaks;

using Context = void *;
using Mem = void *;
using Bits = uint64_t;

namespace {

// The last one of so many parameters is where the status goes.
template <int kParameters> struct Image {
  static constexpr abi::Symbol kRow = {.name = "clCreateImage",
                                       .verb = abi::Verb::Alloc,
                                       .family = abi::Family::OpenCl,
                                       .heap = abi::Heap::Device,
                                       .result = {abi::ResultKind::Handle, abi::Position(kParameters - 1)}};
};

// An image of a buffer has no memory of its own. What is done with it is done with the buffer, and nobody sees that.
struct View {
  static constexpr abi::Symbol kRow = {
      .name = "clCreateImage", .verb = abi::Verb::Access, .family = abi::Family::OpenCl, .heap = abi::Heap::Device};
};

// As cl_image_desc is.
struct Description {
  unsigned type;
  size_t width, height, depth, count, row_pitch, slice_pitch;
  unsigned levels, samples;
  Mem of;
};

using GetInfo = int (*)(Mem, unsigned, size_t, void *, size_t *);
MSL_ASKED(get_info, "libOpenCL", "clGetMemObjectInfo")

// 0: it does not say.
uint64_t bytesOf(Mem image) {
  constexpr unsigned kSize = 0x1102; // CL_MEM_SIZE
  auto *const get = reinterpret_cast<GetInfo>(hook::realOf(get_info));
  size_t bytes = 0;
  return get != nullptr && image != nullptr && get(image, kSize, sizeof bytes, &bytes, nullptr) == 0 ? bytes : 0;
}

// As hook::callRecorded, with a size that is known behind the call.
template <class... Parameters> Mem createRecorded(Mem (*real)(Parameters...), void *caller, Parameters... parameters) {
  using Values = hook::Arguments<Parameters...>;
  using RowCallbacks = hook::Callbacks<Image<sizeof...(Parameters)>, Values>;
  const Values values(parameters...);
  hook::Call call{RowCallbacks::kTraits, hook::kPass, reinterpret_cast<uint64_t>(caller), 0, 0, 0};
  __msl_hook_enter(&call);
  if (call.answer == hook::kPass)
    return real(parameters...);
  if (call.answer == hook::kRecord)
    RowCallbacks::before(call.site, values);
  __msl_hook_begin(&call);
  const Mem image = real(parameters...);
  const uint64_t bytes = bytesOf(image);
  __msl_hook_end(&call);
  if (call.answer == hook::kRecord)
    __msl_on_alloc_status(call.site, RowCallbacks::kTraits, image, bytes,
                          static_cast<const int32_t *>(values.template pointer<sizeof...(Parameters) - 1>()));
  return image;
}

template <class... Parameters>
Mem create(hook::Function &function, void *caller, const Description *description, Parameters... parameters) {
  auto *const real = reinterpret_cast<Mem (*)(Parameters...)>(hook::realOf(function));
  if (real == nullptr)
    return nullptr;
  if (hook::own_library.state != hook::kAccepted)
    return real(parameters...);
  if (description != nullptr && description->of != nullptr)
    return hook::callRecorded<View>(real, caller, parameters...);
  return createRecorded(real, caller, parameters...);
}

} // namespace

// `description`: null where the function has none.
#define MSL_IMAGE(name, given, parameters, arguments)                                                                  \
  extern "C" [[gnu::visibility("default")]] Mem name parameters;                                                       \
  [[gnu::used, gnu::section("msl_hooks")]] static hook::Function function_##name = {                                   \
      "libOpenCL", #name, reinterpret_cast<void *>(&name), nullptr};                                                   \
  extern "C" Mem name parameters {                                                                                     \
    return create(function_##name, __builtin_return_address(0), given, MSL_HOOK_LIST arguments);                       \
  }

MSL_IMAGE(clCreateImage, description,
          (Context context, Bits flags, const void *format, const Description *description, void *host, int *status),
          (context, flags, format, description, host, status))
MSL_IMAGE(clCreateImageWithProperties, description,
          (Context context, const uint64_t *properties, Bits flags, const void *format, const Description *description,
           void *host, int *status),
          (context, properties, flags, format, description, host, status))
MSL_IMAGE(clCreateImage2D, nullptr,
          (Context context, Bits flags, const void *format, size_t width, size_t height, size_t pitch, void *host,
           int *status),
          (context, flags, format, width, height, pitch, host, status))
MSL_IMAGE(clCreateImage3D, nullptr,
          (Context context, Bits flags, const void *format, size_t width, size_t height, size_t depth, size_t pitch,
           size_t slice, void *host, int *status),
          (context, flags, format, width, height, depth, pitch, slice, host, status))
