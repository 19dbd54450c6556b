// Counts kernels of OpenCL. Their counted copies (abi/device_counts.h) are in the same program, or in its counted
// program (opencl/source.h). When the program makes a kernel, the hooks also make the kernel's copy. The copy gets the
// same arguments and, as the last one, a buffer with counters. A launch runs the kernel or its copy. The hooks never
// wait for a queue of the program. They read a buffer through a queue of their own. They do so after the program has
// waited for the last counted launch, when the buffer's last kernel is released, and at the exit.
//
// The kernel itself runs if the copy cannot be made or launched, or refuses an argument. It also runs if the queue is
// out of order.
#include "counting/counted_banks.h"
#include "opencl/source.h"
#include "opencl/text.h"

#include "devices/device.h"

#include <cstdlib>
#include <cstring>
#include <time.h>
#include <unistd.h>

using namespace msleaks;
using namespace msleaks::hooks;

using Context = void *;
using Device = void *;
using Queue = void *;
using Mem = void *;
using Kernel = void *;
using Program = void *;
using Event = void *;
using Events = const void *;
using Bits = uint64_t;
using Sizes = const uint64_t *;
using Text = const char *;

namespace {

MSL_ASKED(create_kernel, "libOpenCL", "clCreateKernel")
MSL_ASKED(clone_kernel, "libOpenCL", "clCloneKernel")
MSL_ASKED(release_kernel, "libOpenCL", "clReleaseKernel")
MSL_ASKED(kernel_info, "libOpenCL", "clGetKernelInfo")
MSL_ASKED(work_group_info, "libOpenCL", "clGetKernelWorkGroupInfo")
MSL_ASKED(set_argument, "libOpenCL", "clSetKernelArg")
MSL_ASKED(set_pointer, "libOpenCL", "clSetKernelArgSVMPointer")
MSL_ASKED(program_info, "libOpenCL", "clGetProgramInfo")
MSL_ASKED(queue_info, "libOpenCL", "clGetCommandQueueInfo")
MSL_ASKED(create_queue, "libOpenCL", "clCreateCommandQueue")
MSL_ASKED(release_queue, "libOpenCL", "clReleaseCommandQueue")
MSL_ASKED(flush_queue, "libOpenCL", "clFlush")
MSL_ASKED(create_buffer, "libOpenCL", "clCreateBuffer")
MSL_ASKED(release_buffer, "libOpenCL", "clReleaseMemObject")
MSL_ASKED(launch, "libOpenCL", "clEnqueueNDRangeKernel")
MSL_ASKED(read_buffer, "libOpenCL", "clEnqueueReadBuffer")
MSL_ASKED(event_info, "libOpenCL", "clGetEventInfo")
MSL_ASKED(retain_event, "libOpenCL", "clRetainEvent")
MSL_ASKED(release_event, "libOpenCL", "clReleaseEvent")

constexpr int kDone = 0;
constexpr int kInvalidValue = -30;
constexpr unsigned kProgramContext = 0x1161, kProgramDevices = 0x1163, kKernelCount = 0x1167, kKernelNames = 0x1168;
constexpr unsigned kKernelArguments = 0x1191, kWaveOfKernel = 0x11b3;
constexpr unsigned kQueueDevice = 0x1091, kQueueProperties = 0x1093;
constexpr unsigned kEventStatus = 0x11d3;
constexpr Bits kReadWrite = 1, kWithContent = 1 << 5, kOutOfOrder = 1;
constexpr unsigned kBlocking = 1;

constexpr uint32_t kMostQueues = 8, kMostName = 512;
constexpr uint64_t kReadAgainNs = 100'000'000, kWaitAtEndNs = 2'000'000'000;

template <class Signature, class... Arguments> auto call(hook::Function &function, Arguments... arguments) {
  auto *const real = reinterpret_cast<Signature *>(hook::realOf(function));
  using Result = decltype(real(arguments...));
  if (real == nullptr)
    return Result{};
  return real(arguments...);
}
using Info = int(const void *, unsigned, size_t, void *, size_t *);
int infoOf(hook::Function &function, const void *of, unsigned what, size_t bytes, void *to) {
  auto *const real = reinterpret_cast<Info *>(hook::realOf(function));
  return real != nullptr ? real(of, what, bytes, to, nullptr) : kNone;
}

// The last counted launch on a queue of the program, which may still run.
struct Outstanding {
  Queue queue;
  Event event;
};

// The counters of a module in the memory of one device. They are released with the last kernel that has counted there.
struct Buffer {
  CountedBanks banks;
  Context context;
  Device device;
  Mem memory; // null: this object is free for another buffer
  Queue queue;
  Outstanding outstanding[kMostQueues];
  uint64_t read_ns;
  Buffer *next;
};

struct CountedKernel {
  Kernel kernel; // null: this object is free for another kernel
  Kernel clone;
  Context context;
  CountedFunction *function;
  unsigned arguments; // number of arguments of the program's kernel
  uint32_t owners;
  bool is_doubtful; // the clone is not launched
  Mem given;        // the buffer that was set as the clone's last argument
  CountedKernel *next;
};

constexpr size_t kBuckets = 256;
struct ProgramState {
  CountedKernel *kernels[kBuckets];
  Buffer *buffers;       // whether this is null is read without the lock
  uint32_t kernel_count; // other threads read it without the lock
  int counting_pid;      // pid of the process whose exit handler reads the counters
};
Wiped<ProgramState> program_state;

// Only for code that runs after the first kernel was added, because that makes program_state.
ProgramState &programState() { return *program_state.get(); }

bool hasKernels() {
  const ProgramState *const known = program_state.get();
  return known != nullptr && __atomic_load_n(&known->kernel_count, __ATOMIC_RELAXED) != 0;
}
bool hasBuffers() {
  const ProgramState *const known = program_state.get();
  return known != nullptr && __atomic_load_n(&known->buffers, __ATOMIC_RELAXED) != nullptr;
}

CountedKernel *&bucketOf(Kernel kernel) {
  return programState().kernels[reinterpret_cast<uintptr_t>(kernel) / 16 % kBuckets];
}

CountedKernel *find(Kernel kernel) {
  if (kernel == nullptr || !hasKernels())
    return nullptr;
  CountedKernel *known = bucketOf(kernel);
  while (known != nullptr && known->kernel != kernel)
    known = known->next;
  return known;
}

// ---- reading counters

bool hasEnded(const Outstanding &launched) {
  int status = 0; // below 0: it failed
  return infoOf(event_info, launched.event, kEventStatus, sizeof status, &status) != kDone || status <= 0;
}

void forget(Outstanding &launched) {
  call<int(Event)>(release_event, launched.event);
  launched = {};
}

bool isIdle(Buffer &buffer) {
  bool is_idle = true;
  for (Outstanding &launched : buffer.outstanding)
    if (launched.event != nullptr && hasEnded(launched))
      forget(launched);
    else
      is_idle = is_idle && launched.event == nullptr;
  return is_idle;
}

// Reads the counters, and adds their growth since the last reading.
void read(Buffer &buffer) {
  using Read = int(Queue, Mem, unsigned, size_t, size_t, void *, unsigned, const void *, const void *);
  buffer.read_ns = now();
  const size_t bytes = buffer.banks.counterBytes();
  if (bytes != 0 && call<Read>(read_buffer, buffer.queue, buffer.memory, kBlocking, sizeof(abi::DeviceCounts), bytes,
                               buffer.banks.counters(), 0u, nullptr, nullptr) == kDone)
    addRead(buffer.banks);
}

// Waits until the launches have ended, but not forever: a launch may wait for an event that the program never sets.
void waitFor(Buffer &buffer) {
  for (const Outstanding &launched : buffer.outstanding)
    if (launched.event != nullptr)
      call<int(Queue)>(flush_queue, launched.queue);
  const uint64_t until = now() + kWaitAtEndNs;
  while (!isIdle(buffer) && now() < until) {
    constexpr timespec kMoment = {0, 50'000};
    ::nanosleep(&kMoment, nullptr);
  }
}

void release(Buffer &buffer) {
  read(buffer);
  for (Outstanding &launched : buffer.outstanding)
    if (launched.event != nullptr)
      forget(launched);
  call<int(Mem)>(release_buffer, buffer.memory);
  call<int(Queue)>(release_queue, buffer.queue);
  dropBanks(buffer.banks);
  buffer.memory = nullptr;
}

// Runs at the exit. A fork's child inherits this exit handler, but it has no buffers and must not call the driver.
void releaseAll() {
  if (programState().counting_pid != ::getpid())
    return;
  const hook::OwnWork own;
  const CountedLock lock;
  for (Buffer *buffer = programState().buffers; buffer != nullptr; buffer = buffer->next)
    if (buffer->memory != nullptr) {
      waitFor(*buffer);
      release(*buffer);
    }
  for (CountedKernel *kernel : programState().kernels) // what other exit handlers launch is not counted
    for (; kernel != nullptr; kernel = kernel->next)
      kernel->is_doubtful = true;
}

// ---- buffers

Buffer *freeBuffer() {
  for (Buffer *buffer = programState().buffers; buffer != nullptr; buffer = buffer->next)
    if (buffer->memory == nullptr)
      return buffer;
  auto *added = static_cast<Buffer *>(keep(sizeof(Buffer)));
  if (added != nullptr) {
    added->next = programState().buffers;
    __atomic_store_n(&programState().buffers, added, __ATOMIC_RELAXED);
  }
  return added;
}

uint32_t waveOf(const CountedKernel &kernel, Device device) {
  size_t wave = 0;
  call<int(Kernel, Device, unsigned, size_t, void *, size_t *)>(work_group_info, kernel.clone, device, kWaveOfKernel,
                                                                sizeof wave, &wave, nullptr);
  return wave != 0 ? static_cast<uint32_t>(wave) : 1;
}

Mem makeMemory(Context context, uint64_t bytes, void *content) {
  int status = 0;
  const Mem memory = call<Mem(Context, Bits, size_t, void *, int *)>(create_buffer, context, kReadWrite | kWithContent,
                                                                     bytes, content, &status);
  return status == kDone ? memory : nullptr;
}

Queue makeQueue(Context context, Device device) {
  int status = 0;
  const Queue queue = call<Queue(Context, Device, Bits, int *)>(create_queue, context, device, Bits{0}, &status);
  return status == kDone ? queue : nullptr;
}

bool fill(Buffer &buffer, const CountedKernel &kernel, Device device, const abi::DeviceChoice &choice) {
  CountedBanks banks;
  if (!makeBanks(banks, *kernel.function->module, choice, waveOf(kernel, device)))
    return false;
  const Queue queue = makeQueue(kernel.context, device);
  const Mem memory = queue != nullptr ? makeMemory(kernel.context, banks.bytes, banks.content) : nullptr;
  if (memory == nullptr) {
    if (queue != nullptr)
      call<int(Queue)>(release_queue, queue);
    dropBanks(banks);
    return false;
  }
  buffer.banks = banks;
  buffer.context = kernel.context;
  buffer.device = device;
  buffer.memory = memory;
  buffer.queue = queue;
  buffer.read_ns = now();
  return true;
}

Buffer *bufferFor(const CountedKernel &kernel, Device device, const abi::DeviceChoice &choice) {
  for (Buffer *buffer = programState().buffers; buffer != nullptr; buffer = buffer->next)
    if (buffer->memory != nullptr && buffer->banks.module == kernel.function->module &&
        buffer->context == kernel.context && buffer->device == device)
      return buffer;
  Buffer *const made = freeBuffer();
  return made != nullptr && fill(*made, kernel, device, choice) ? made : nullptr;
}

// ---- modules of a program

// Reads the names of a program's kernels, with `;` between them.
struct Names : OpenClText {
  explicit Names(Program program) : OpenClText(program_info, program, kKernelNames) {}

  // Calls f with each name. Overwrites each `;` with 0.
  template <class F> void forEach(F &&f) {
    for (char *name = text(); name != nullptr && *name != 0;) {
      char *const end = std::strchr(name, ';');
      if (end != nullptr)
        *end = 0;
      f(static_cast<const char *>(name));
      name = end != nullptr ? end + 1 : nullptr;
    }
  }
};

bool startsWith(const char *text, const char *prefix) { return std::strncmp(text, prefix, std::strlen(prefix)) == 0; }
bool isOurs(const char *name) { return startsWith(name, abi::kCountedPrefix) || startsWith(name, abi::kGraphsPrefix); }

// Gets a module's table through the kernel __msl_graphs_HASH, which copies it. The caller first copies the header,
// which contains the table's size, and then the whole table.
class TableCopy {
public:
  TableCopy(Program program, Context context, Device device, const char *name)
      : context_(context), queue_(makeQueue(context, device)) {
    int status = 0;
    kernel_ = call<Kernel(Program, Text, int *)>(create_kernel, program, name, &status);
  }
  ~TableCopy() {
    if (kernel_ != nullptr)
      call<int(Kernel)>(release_kernel, kernel_);
    if (queue_ != nullptr)
      call<int(Queue)>(release_queue, queue_);
  }
  TableCopy(const TableCopy &) = delete;
  TableCopy &operator=(const TableCopy &) = delete;

  bool copy(void *to, uint64_t bytes) {
    const Mem memory = kernel_ != nullptr && queue_ != nullptr ? makeMemory(context_, bytes, to) : nullptr;
    if (memory == nullptr)
      return false;
    const size_t words = bytes / sizeof(uint64_t);
    using Launch = int(Queue, Kernel, unsigned, const void *, Sizes, Sizes, unsigned, Events, Event *);
    using Read = int(Queue, Mem, unsigned, size_t, size_t, void *, unsigned, const void *, const void *);
    const bool is_done =
        call<int(Kernel, unsigned, size_t, const void *)>(set_argument, kernel_, 0u, sizeof memory, &memory) == kDone &&
        call<Launch>(launch, queue_, kernel_, 1u, nullptr, &words, nullptr, 0u, nullptr, nullptr) == kDone &&
        call<Read>(read_buffer, queue_, memory, kBlocking, size_t{0}, bytes, to, 0u, nullptr, nullptr) == kDone;
    call<int(Mem)>(release_buffer, memory);
    return is_done;
  }

private:
  Context context_;
  Queue queue_;
  Kernel kernel_ = nullptr;
};

CountedModule *moduleOf(Program program, Context context, Device device, const char *name) {
  TableCopy table(program, context, device, name);
  return readModule(name, UINT64_MAX, [&](void *to, uint64_t bytes) { return table.copy(to, bytes); });
}

CountedFunction *functionOf(Program program, Context context, const char *kernel) {
  constexpr size_t kMostDevices = 16;
  Device devices[kMostDevices] = {};
  if (infoOf(program_info, program, kProgramDevices, sizeof devices, devices) != kDone)
    return nullptr;
  CountedFunction *found = nullptr;
  Names(program).forEach([&](const char *name) {
    if (found != nullptr || !startsWith(name, abi::kGraphsPrefix))
      return;
    CountedModule *module = findModule(name);
    if (module == nullptr)
      module = moduleOf(program, context, devices[0], name);
    if (module != nullptr)
      found = functionOf(*module, kernel);
  });
  return found;
}

// ---- kernels

void remember(const CountedKernel &made) {
  __msl_kernel_arguments(made.kernel, &made.function->arguments);
  CountedKernel *&bucket = bucketOf(made.kernel);
  CountedKernel *known = bucket;
  while (known != nullptr && known->kernel != nullptr)
    known = known->next;
  if (known == nullptr) {
    known = static_cast<CountedKernel *>(keep(sizeof(CountedKernel)));
    if (known == nullptr) {
      call<int(Kernel)>(release_kernel, made.clone);
      return;
    }
    known->next = bucket;
    bucket = known;
  }
  CountedKernel *const next = known->next;
  *known = made;
  known->next = next;
  if (__atomic_fetch_add(&programState().kernel_count, 1u, __ATOMIC_RELAXED) == 0 && programState().counting_pid == 0) {
    // The driver has already registered its own exit handlers. So this handler runs before them.
    programState().counting_pid = ::getpid();
    ::atexit(releaseAll);
  }
}

unsigned argumentsOf(Kernel kernel) {
  unsigned count = UINT32_MAX;
  infoOf(kernel_info, kernel, kKernelArguments, sizeof count, &count);
  return count;
}

void addCopy(Program program, Kernel kernel, const char *name) {
  abi::DeviceChoice choice;
  char copy_name[kMostName];
  const size_t prefix = sizeof abi::kCountedPrefix - 1, length = std::strlen(name);
  if (prefix + length >= kMostName || isOurs(name) || !countsLaunches(choice))
    return;
  std::memcpy(copy_name, abi::kCountedPrefix, prefix);
  std::memcpy(copy_name + prefix, name, length + 1);
  const hook::OwnWork own;
  int status = 0;
  const Program counted = [&] {
    const CountedLock lock;
    return lock ? countedProgramOf(program) : program;
  }();
  const Kernel clone = call<Kernel(Program, Text, int *)>(create_kernel, counted, copy_name, &status);
  if (clone == nullptr || status != kDone)
    return;
  Context context = nullptr;
  const unsigned arguments = argumentsOf(kernel);
  const CountedLock lock;
  CountedFunction *function = nullptr;
  if (lock && program_state.make() != nullptr &&
      infoOf(program_info, program, kProgramContext, sizeof context, &context) == kDone && arguments < UINT32_MAX - 1 &&
      argumentsOf(clone) == arguments + 1)
    function = functionOf(counted, context, name);
  if (function != nullptr)
    remember({kernel, clone, context, function, arguments, 1, false, nullptr, nullptr});
  else
    call<int(Kernel)>(release_kernel, clone);
}

bool isUsed(const Buffer &buffer) {
  for (const CountedKernel *kernel : programState().kernels)
    for (; kernel != nullptr; kernel = kernel->next)
      if (kernel->kernel != nullptr && kernel->given == buffer.memory)
        return true;
  return false;
}

// Releases the buffers in which no kernel will count again, if all launches there have ended. Only the exit waits for
// launches.
void releaseUnused() {
  for (Buffer *buffer = programState().buffers; buffer != nullptr; buffer = buffer->next)
    if (buffer->memory != nullptr && isIdle(*buffer) && !isUsed(*buffer))
      release(*buffer);
}

void dropCopy(CountedKernel &kernel) {
  call<int(Kernel)>(release_kernel, kernel.clone);
  kernel.kernel = kernel.clone = nullptr;
  __atomic_fetch_sub(&programState().kernel_count, 1u, __ATOMIC_RELAXED);
  releaseUnused();
}

template <class F> void onCopy(Kernel kernel, F &&f) {
  if (!hasKernels())
    return;
  const hook::OwnWork own;
  const CountedLock lock;
  if (CountedKernel *known = find(kernel))
    f(*known);
}

// ---- launches

LaunchShape shapeOf(unsigned dimensions, Sizes global, Sizes local) {
  LaunchShape shape{{1, 1, 1}, {1, 1, 1}, 0};
  if (global == nullptr || dimensions == 0 || dimensions > 3)
    return {};
  shape.threads = 1;
  for (unsigned i = 0; i < dimensions; ++i) {
    shape.threads *= global[i];
    shape.block[i] = local != nullptr ? local[i] : 0;
    shape.grid[i] = shape.block[i] != 0 ? (global[i] + local[i] - 1) / local[i] : 0;
  }
  return shape;
}

struct Plan {
  CountedKernel *kernel = nullptr;
  Buffer *buffer = nullptr; // null: the kernel itself is launched
  Outstanding *outstanding = nullptr;
  abi::DeviceChoice choice{};
  LaunchShape shape{};
};

Outstanding *roomFor(Buffer &buffer, Queue queue) {
  Outstanding *room = nullptr;
  for (Outstanding &launched : buffer.outstanding)
    if (launched.event != nullptr && launched.queue == queue)
      return &launched;
    else if (launched.event == nullptr || hasEnded(launched))
      room = &launched;
  return room;
}

void planCounted(Plan &plan, CountedKernel &kernel, Queue queue) {
  Device device = nullptr;
  Bits properties = kOutOfOrder;
  if (infoOf(queue_info, queue, kQueueDevice, sizeof device, &device) != kDone ||
      infoOf(queue_info, queue, kQueueProperties, sizeof properties, &properties) != kDone ||
      (properties & kOutOfOrder) != 0)
    return;
  Buffer *const buffer = bufferFor(kernel, device, plan.choice);
  if (buffer == nullptr)
    return;
  if (kernel.given != buffer->memory) {
    using Set = int(Kernel, unsigned, size_t, const void *);
    if (call<Set>(set_argument, kernel.clone, kernel.arguments, sizeof buffer->memory, &buffer->memory) != kDone) {
      kernel.is_doubtful = true;
      return;
    }
    kernel.given = buffer->memory;
  }
  plan.outstanding = roomFor(*buffer, queue);
  if (plan.outstanding != nullptr)
    plan.buffer = buffer;
}

Plan planLaunch(Queue queue, Kernel kernel, unsigned dimensions, Sizes global, Sizes local) {
  Plan plan;
  onCopy(kernel, [&](CountedKernel &known) {
    if (!countsLaunches(plan.choice))
      return;
    plan.kernel = &known;
    plan.shape = shapeOf(dimensions, global, local);
    if (plan.shape.threads != 0 && !known.is_doubtful && isWanted(*known.function, plan.choice, plan.shape.threads))
      planCounted(plan, known, queue);
  });
  return plan;
}

// `event`: the event of the copy's launch, which this function has to release; null: the kernel itself was launched.
void noteLaunched(const Plan &plan, Queue queue, Event event) {
  const hook::OwnWork own;
  const CountedLock lock;
  noteLaunch(*plan.kernel->function, plan.choice, plan.shape, event != nullptr);
  if (event == nullptr)
    return;
  Outstanding *const room = roomFor(*plan.buffer, queue);
  if (room == nullptr) { // other launches took the room: a later reading includes these counts
    call<int(Event)>(release_event, event);
    return;
  }
  if (room->event != nullptr)
    forget(*room);
  *room = {queue, event};
}

constexpr auto kLaunch = [](auto real, void *caller, Queue queue, Kernel kernel, unsigned dimensions, Sizes offset,
                            Sizes global, Sizes local, unsigned waits, Events wait_for, Event *event) {
  using OfRow = hook::Known<"clEnqueueNDRangeKernel">;
  const Plan plan = planLaunch(queue, kernel, dimensions, global, local);
  if (plan.kernel == nullptr)
    return hook::callRecorded<OfRow>(real, caller, queue, kernel, dimensions, offset, global, local, waits, wait_for,
                                     event);
  Event counted = nullptr;
  const auto either = [&](Queue q, Kernel itself, unsigned d, Sizes o, Sizes g, Sizes l, unsigned n, Events w,
                          Event *e) {
    if (plan.buffer != nullptr) {
      Event *const to = e != nullptr ? e : &counted;
      if (real(q, plan.kernel->clone, d, o, g, l, n, w, to) == kDone) {
        counted = *to;
        if (e != nullptr)
          call<int(Event)>(retain_event, counted);
        return kDone;
      }
      plan.kernel->is_doubtful = true;
    }
    return static_cast<int>(real(q, itself, d, o, g, l, n, w, e));
  };
  const int status = hook::callRecorded<OfRow>(either, caller, queue, kernel, dimensions, offset, global, local, waits,
                                               wait_for, event);
  if (status == kDone)
    noteLaunched(plan, queue, counted);
  return status;
};

// clEnqueueTask launches one thread. It always launches the kernel itself, never the copy.
constexpr auto kTask = [](auto real, void *caller, Queue queue, Kernel kernel, unsigned waits, Events wait_for,
                          Event *event) {
  const int status =
      hook::callRecorded<hook::Known<"clEnqueueTask">>(real, caller, queue, kernel, waits, wait_for, event);
  if (status == kDone)
    onCopy(kernel, [](CountedKernel &known) {
      abi::DeviceChoice choice;
      if (countsLaunches(choice))
        noteLaunch(*known.function, choice, {{1, 1, 1}, {1, 1, 1}, 1}, /*is_counted=*/false);
    });
  return status;
};

// The program has waited for its queue. Buffers are read from time to time, so that few counts are lost if the process
// is killed.
constexpr auto kFinish = [](auto real, void *, Queue queue) {
  const int status = real(queue);
  if (status != kDone || !hasBuffers())
    return status;
  const hook::OwnWork own;
  const CountedLock lock;
  releaseUnused();
  for (Buffer *buffer = programState().buffers; buffer != nullptr; buffer = buffer->next)
    if (buffer->memory != nullptr && now() - buffer->read_ns >= kReadAgainNs && isIdle(*buffer))
      read(*buffer);
  return status;
};

// ---- what the program does with its kernels

template <class OfRow, class Real, class... Parameters> auto asRow(Real real, void *caller, Parameters... parameters) {
  if constexpr (abi::isRecorded(OfRow::kRow.verb))
    return hook::callRecorded<OfRow>(real, caller, parameters...);
  else
    return hook::callNoted<OfRow>(real, caller, parameters...);
}

constexpr auto kCreate = [](auto real, void *caller, Program program, Text name, int *status) {
  const Kernel kernel = asRow<hook::Known<"clCreateKernel">>(real, caller, program, name, status);
  if (kernel != nullptr && name != nullptr)
    addCopy(program, kernel, name);
  return kernel;
};

constexpr auto kClone = [](auto real, void *caller, Kernel kernel, int *status) {
  const Kernel made = asRow<hook::Known<"clCloneKernel">>(real, caller, kernel, status);
  if (made != nullptr)
    onCopy(kernel, [&](CountedKernel &known) {
      int error = 0;
      const Kernel clone = call<Kernel(Kernel, int *)>(clone_kernel, known.clone, &error);
      if (clone == nullptr || error != kDone)
        return;
      CountedKernel added = known;
      added.kernel = made;
      added.clone = clone;
      added.owners = 1;
      remember(added);
    });
  return made;
};

constexpr auto kRetain = [](auto real, void *caller, Kernel kernel) {
  const int status = asRow<hook::Known<"clRetainKernel">>(real, caller, kernel);
  if (status == kDone)
    onCopy(kernel, [](CountedKernel &known) { ++known.owners; });
  return status;
};

constexpr auto kRelease = [](auto real, void *caller, Kernel kernel) {
  // Done before the call: after it, the handle may belong to another kernel.
  onCopy(kernel, [](CountedKernel &known) {
    if (--known.owners == 0)
      dropCopy(known);
  });
  return asRow<hook::Known<"clReleaseKernel">>(real, caller, kernel);
};

constexpr auto kArgument = [](auto real, void *caller, Kernel kernel, unsigned index, size_t bytes, const void *value) {
  const int status = asRow<hook::Known<"clSetKernelArg">>(real, caller, kernel, index, bytes, value);
  if (status == kDone)
    onCopy(kernel, [&](CountedKernel &known) {
      using Set = int(Kernel, unsigned, size_t, const void *);
      if (call<Set>(set_argument, known.clone, index, bytes, value) != kDone)
        known.is_doubtful = true;
    });
  return status;
};

constexpr auto kPointer = [](auto real, void *caller, Kernel kernel, unsigned index, const void *value) {
  const int status = asRow<hook::Known<"clSetKernelArgSVMPointer">>(real, caller, kernel, index, value);
  if (status == kDone)
    onCopy(kernel, [&](CountedKernel &known) {
      if (call<int(Kernel, unsigned, const void *)>(set_pointer, known.clone, index, value) != kDone)
        known.is_doubtful = true;
    });
  return status;
};

// The clone would need the same setting, but does not get it. So it is not launched any more.
constexpr auto kExecution = [](auto real, void *, Kernel kernel, unsigned what, size_t bytes, const void *value) {
  onCopy(kernel, [](CountedKernel &known) { known.is_doubtful = true; });
  return real(kernel, what, bytes, value);
};

// ---- the program does not see the kernels that the plugin has added

constexpr auto kProgramInfo = [](auto real, void *, Program program, unsigned what, size_t room, void *to,
                                 size_t *wanted) {
  if (what != kKernelNames && what != kKernelCount)
    return static_cast<int>(real(program, what, room, to, wanted));
  const hook::OwnWork own;
  Names names(program);
  size_t count = 0, length = 0;
  bool has_ours = false;
  names.forEach([&](const char *name) {
    has_ours = has_ours || isOurs(name);
    if (isOurs(name))
      return;
    // The name moves towards the beginning of the text, because some names before it are left out.
    const size_t bytes = std::strlen(name);
    if (count++ != 0)
      names.text()[length++] = ';';
    std::memmove(names.text() + length, name, bytes);
    length += bytes;
  });
  if (!has_ours)
    return static_cast<int>(real(program, what, room, to, wanted));
  names.text()[length++] = 0;
  const void *const answer = what == kKernelNames ? static_cast<const void *>(names.text()) : &count;
  const size_t bytes = what == kKernelNames ? length : sizeof count;
  if (to != nullptr && room < bytes)
    return kInvalidValue;
  if (to != nullptr)
    std::memcpy(to, answer, bytes);
  if (wanted != nullptr)
    *wanted = bytes;
  return kDone;
};

// If the program also contains counted copies, the hook creates only its other kernels, one after the other.
constexpr auto kCreateAll = [](auto real, void *caller, Program program, unsigned room, Kernel *kernels_,
                               unsigned *made) {
  const auto those = [&](Program of, unsigned most, Kernel *to, unsigned *count) {
    Names names(of);
    unsigned wanted = 0, ours = 0;
    for (const char *name = names.text(); name != nullptr && *name != 0;) {
      ++(isOurs(name) ? ours : wanted);
      const char *const end = std::strchr(name, ';');
      name = end != nullptr ? end + 1 : nullptr;
    }
    if (ours == 0)
      return static_cast<int>(real(of, most, to, count));
    if (count != nullptr)
      *count = wanted;
    if (to == nullptr)
      return kDone;
    if (most < wanted)
      return kInvalidValue;
    int status = kDone;
    unsigned done = 0;
    names.forEach([&](const char *name) {
      int error = 0;
      if (status != kDone || isOurs(name))
        return;
      to[done] = call<Kernel(Program, Text, int *)>(create_kernel, of, name, &error);
      status = error;
      done += error == kDone;
    });
    for (unsigned i = 0; status != kDone && i < done; ++i)
      call<int(Kernel)>(release_kernel, to[i]);
    return status;
  };
  // The caller may not ask for the number of kernels, but the hook needs it.
  unsigned count = 0;
  const int status = asRow<hook::Known<"clCreateKernelsInProgram">>(those, caller, program, room, kernels_,
                                                                    made != nullptr ? made : &count);
  if (status == kDone && kernels_ != nullptr)
    for (unsigned i = 0; i < (made != nullptr ? *made : count); ++i) {
      constexpr unsigned kFunctionName = 0x1190;
      char name[kMostName];
      if (infoOf(kernel_info, kernels_[i], kFunctionName, sizeof name, name) == kDone)
        addCopy(program, kernels_[i], name);
    }
  return status;
};

} // namespace

MSL_HOOK_WITH(kCreate, libOpenCL, Kernel, clCreateKernel, (Program, Text, int *))
MSL_HOOK_WITH(kCreateAll, libOpenCL, int, clCreateKernelsInProgram, (Program, unsigned, Kernel *, unsigned *))
MSL_HOOK_WITH(kClone, libOpenCL, Kernel, clCloneKernel, (Kernel, int *))
MSL_HOOK_WITH(kRetain, libOpenCL, int, clRetainKernel, (Kernel))
MSL_HOOK_WITH(kRelease, libOpenCL, int, clReleaseKernel, (Kernel))
MSL_HOOK_WITH(kArgument, libOpenCL, int, clSetKernelArg, (Kernel, unsigned, size_t, const void *))
MSL_HOOK_WITH(kPointer, libOpenCL, int, clSetKernelArgSVMPointer, (Kernel, unsigned, const void *))
MSL_HOOK_WITH(kExecution, libOpenCL, int, clSetKernelExecInfo, (Kernel, unsigned, size_t, const void *))
MSL_HOOK_WITH(kLaunch, libOpenCL, int, clEnqueueNDRangeKernel,
              (Queue, Kernel, unsigned, Sizes, Sizes, Sizes, unsigned, Events, Event *))
MSL_HOOK_WITH(kTask, libOpenCL, int, clEnqueueTask, (Queue, Kernel, unsigned, Events, Event *))
MSL_HOOK_WITH(kFinish, libOpenCL, int, clFinish, (Queue))
MSL_HOOK_WITH(kProgramInfo, libOpenCL, int, clGetProgramInfo, (Program, unsigned, size_t, void *, size_t *))
