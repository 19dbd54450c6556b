// Counts the kernels of OpenCL programs that are given as source text (msleaks-run --cfg). The driver builds such a
// program as usual. The hooks also make a counted program: the same text, compiled by msleaks-cl (driver/opencl) with
// the plugin. It contains the counted copies of the kernels, which opencl/counted_launches.cpp launches.
//
// If msleaks-cl cannot compile the text, or the driver takes neither SPIR-V nor bitcode, there is no counted program. A
// note says why.
#include "counting/handle_table.h"
#include "host/child_program.h"
#include "opencl/programs.h"

#include "devices/device.h"

#include "msleaks/runtime/note.h"
#include "msleaks/runtime/sandbox.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

using namespace msleaks;
using namespace msleaks::hooks;
using namespace msleaks::hooks::cl;

namespace {

MSL_ASKED(program_info, "libOpenCL", "clGetProgramInfo")
MSL_ASKED(device_info, "libOpenCL", "clGetDeviceInfo")
MSL_ASKED(with_binary, "libOpenCL", "clCreateProgramWithBinary")
MSL_ASKED(with_il, "libOpenCL", "clCreateProgramWithIL")
MSL_ASKED(build_program, "libOpenCL", "clBuildProgram")
MSL_ASKED(release_program, "libOpenCL", "clReleaseProgram")

constexpr unsigned kContextOf = 0x1161, kDeviceCount = 0x1162, kDevicesOf = 0x1163, kSourceOf = 0x1164;
constexpr unsigned kExtensions = 0x1030, kVersion = 0x102f, kIlVersion = 0x105b;
constexpr unsigned kMostDevices = 16;

// A call of the driver by the hooks. The driver may allocate heap memory in it, and free this memory in a later call of
// the program. So this memory is recorded as in any call of OpenCL. Handles that the call opens are not recorded.
class InsideDriver {
public:
  InsideDriver() : errno_(errno) { __msl_hook_begin(&call_); }
  ~InsideDriver() {
    __msl_hook_end(&call_);
    errno = errno_;
  }
  InsideDriver(const InsideDriver &) = delete;
  InsideDriver &operator=(const InsideDriver &) = delete;

private:
  static constexpr uint32_t kTraits =
      abi::Traits(abi::Verb::Handle, abi::Family::OpenCl, abi::Heap::Device, abi::kFromHook).packed();
  hook::Call call_{kTraits, hook::kPass, 0, 0, 0, 0};
  int errno_;
};

// A program of the user, and its counted program.
struct Sources {
  Program handle;
  Program counted = nullptr; // null: there is none
  uint32_t owners = 1;
  Sources *next = nullptr;
};
HandleTable<Sources> all_sources{};

void drop(Sources &sources) {
  if (sources.counted != nullptr)
    call<int(Program)>(release_program, sources.counted);
  sources.counted = nullptr;
}

// Writes a note with the first line of the messages.
void noteFailure(const MemoryFile &messages) {
  char text[160] = {}, line[240];
  const uint64_t bytes = messages.bytes();
  messages.read(text, bytes < sizeof text - 1 ? bytes : sizeof text - 1);
  text[std::strcspn(text, "\n")] = 0;
  std::snprintf(line, sizeof line, "an OpenCL program given as source: its kernels are not counted: %s",
                text[0] != 0 ? text : "msleaks-cl cannot be started, or took too long");
  __msl_note(line);
}

struct Module {
  const MemoryFile output{"msleaks-cl module"};
  bool is_spirv = false;
};

// Returns a version as the number that the compiler's option takes: 120 for "OpenCL 1.2 …". 0 = the text names no
// version.
unsigned long numberOf(const char *version) noexcept {
  constexpr std::string_view kPrefix = "OpenCL ";
  if (std::strncmp(version, kPrefix.data(), kPrefix.size()) != 0)
    return 0;
  char *end = nullptr;
  const unsigned long major = std::strtoul(version + kPrefix.size(), &end, 10);
  return *end == '.' ? major * 100 + std::strtoul(end + 1, nullptr, 10) * 10 : 0;
}

// False: the text cannot be compiled. A note then says why.
bool compile(Module &module, Program program, Device device, Text options) {
  const OpenClText source(program_info, program, kSourceOf), extensions(device_info, device, kExtensions),
      il(device_info, device, kIlVersion), version(device_info, device, kVersion);
  module.is_spirv = il.has("SPIR-V");
  const MemoryFile input("msleaks-cl source"), messages("msleaks-cl messages");
  char number[24] = {};
  if (const unsigned long known = numberOf(version.get()); known != 0)
    std::snprintf(number, sizeof number, "%lu", known);
  const char *const arguments[] = {__msl_kernel_compiler(),
                                   module.is_spirv ? "spirv" : "bitcode",
                                   options != nullptr ? options : "",
                                   extensions.get(),
                                   number,
                                   nullptr};
  const bool is_compiled =
      input.write(source.get(), std::strlen(source.get())) && runChild({arguments, input, module.output, messages});
  if (!is_compiled)
    noteFailure(messages);
  return is_compiled;
}

// Null: the driver does not accept the module.
Program makeProgram(const Module &module, Context context, unsigned count, const Device *devices) {
  const uint64_t bytes = module.output.bytes();
  void *const content = bytes != 0 ? takePages(bytes) : nullptr;
  if (content == nullptr)
    return nullptr;
  size_t sizes[kMostDevices];
  const void *binaries[kMostDevices];
  for (unsigned i = 0; i < count; ++i) {
    sizes[i] = bytes;
    binaries[i] = content;
  }
  int status = kDone;
  Program made = nullptr;
  if (module.output.read(content, bytes))
    made = module.is_spirv
               ? call<Program(Context, const void *, size_t, int *)>(with_il, context, content, bytes, &status)
               : call<Program(Context, unsigned, const Device *, const size_t *, const void **, int *, int *)>(
                     with_binary, context, count, devices, sizes, binaries, nullptr, &status);
  givePages(content, bytes);
  const char *const options = module.is_spirv ? "" : "-x spir -spir-std=1.2";
  if (made == nullptr || status != kDone)
    return nullptr;
  if (call<int(Program, unsigned, const Device *, Text, Notify, void *)>(build_program, made, count, devices, options,
                                                                         nullptr, nullptr) == kDone)
    return made;
  call<int(Program)>(release_program, made);
  return nullptr;
}

Program countedOf(Program program, unsigned count, const Device *devices, Text options) {
  Context context = nullptr;
  Device own[kMostDevices] = {};
  if (!infoOf(program_info, program, kContextOf, sizeof context, &context) || context == nullptr)
    return nullptr;
  if (devices == nullptr || count == 0) {
    infoOf(program_info, program, kDeviceCount, sizeof count, &count);
    if (count > kMostDevices || !infoOf(program_info, program, kDevicesOf, sizeof own, own))
      return nullptr;
    devices = own;
  }
  Module module;
  if (count == 0 || count > kMostDevices || !compile(module, program, devices[0], options))
    return nullptr;
  const Program made = makeProgram(module, context, count, devices);
  if (made == nullptr)
    __msl_note("an OpenCL program given as source: its kernels are not counted: the driver does not take the module "
               "that msleaks-cl has made of it");
  return made;
}

bool isSource(Program program) {
  size_t bytes = 0;
  return call<Info>(program_info, program, kSourceOf, size_t{0}, nullptr, &bytes) == kDone && bytes > 1;
}

// Builds without the lock, because a build takes long and other threads launch kernels meanwhile.
void addCounted(Program program, unsigned count, const Device *devices, Text options) {
  abi::DeviceChoice choice;
  const InsideDriver inside;
  if (runtime::isSandboxed() || *__msl_kernel_compiler() == 0 || !countsLaunches(choice) || !isSource(program))
    return;
  const Program counted = countedOf(program, count, devices, options);
  if (counted == nullptr)
    return;
  const CountedLock lock;
  Sources *known = lock ? all_sources.find(program) : nullptr;
  if (known == nullptr && lock)
    known = all_sources.add({program});
  if (known == nullptr) {
    call<int(Program)>(release_program, counted);
    return;
  }
  drop(*known);
  known->counted = counted;
}

template <class F> void onSources(Program program, F &&f) {
  if (!all_sources.hasAny() || program == nullptr)
    return;
  const InsideDriver inside;
  const CountedLock lock;
  if (Sources *known = lock ? all_sources.find(program) : nullptr)
    f(*known);
}

constexpr auto kBuild = [](auto real, void *, Program program, unsigned count, const Device *devices, Text options,
                           Notify notify, void *data) {
  if (notify != nullptr) // the callback may create kernels
    addCounted(program, count, devices, options);
  const int status = real(program, count, devices, options, notify, data);
  if (notify == nullptr && status == kDone)
    addCounted(program, count, devices, options);
  return status;
};

constexpr auto kRetain = [](auto real, void *caller, Program program) {
  const int status = hook::callRecorded<hook::Known<"clRetainProgram">>(real, caller, program);
  if (status == kDone)
    onSources(program, [](Sources &known) { ++known.owners; });
  return status;
};

constexpr auto kRelease = [](auto real, void *caller, Program program) {
  // Done before the call: after it, the handle may belong to another program.
  onSources(program, [](Sources &known) {
    if (--known.owners != 0)
      return;
    drop(known);
    all_sources.forget(known.handle);
  });
  return hook::callRecorded<hook::Known<"clReleaseProgram">>(real, caller, program);
};

} // namespace

Program cl::countedProgramOf(Program program) noexcept {
  const Sources *const known = all_sources.find(program);
  return known != nullptr && known->counted != nullptr ? known->counted : program;
}

#define MSL_PART_SOURCE
#include "msleaks/abi/functions/opencl.def"
