// Counts launches of OpenCL's kernels. A launch runs the kernel or its counted copy (opencl/counted_copies.cpp). A
// buffer with counters is read after the program has waited for the last counted launch. It is also read when its last
// kernel is released, and at the exit.
//
// The kernel itself runs if the copy cannot be made or launched, or refuses an argument. It also runs if the queue is
// out of order.
#include "opencl/counted_copies.h"

using namespace msleaks;
using namespace msleaks::hooks;
using namespace msleaks::hooks::cl;

namespace {

MSL_ASKED(work_group_info, "libOpenCL", "clGetKernelWorkGroupInfo")
MSL_ASKED(set_argument, "libOpenCL", "clSetKernelArg")
MSL_ASKED(queue_info, "libOpenCL", "clGetCommandQueueInfo")
MSL_ASKED(retain_event, "libOpenCL", "clRetainEvent")

using Banks = PlacedBanks<OpenClDriver>;

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
  Banks *banks = nullptr; // null: the kernel itself is launched
  abi::DeviceChoice choice{};
  LaunchShape shape{};
};

uint32_t waveOf(const CountedKernel &kernel, Device device) {
  constexpr unsigned kWaveOfKernel = 0x11b3;
  size_t wave = 0;
  call<int(Kernel, Device, unsigned, size_t, void *, size_t *)>(work_group_info, kernel.clone, device, kWaveOfKernel,
                                                                sizeof wave, &wave, nullptr);
  return wave != 0 ? static_cast<uint32_t>(wave) : 1;
}

void planCounted(Plan &plan, CountedKernel &kernel, Queue queue) {
  constexpr unsigned kQueueDevice = 0x1091, kQueueProperties = 0x1093;
  constexpr Bits kOutOfOrder = 1;
  Device device = nullptr;
  Bits properties = kOutOfOrder;
  if (!infoOf(queue_info, queue, kQueueDevice, sizeof device, &device) ||
      !infoOf(queue_info, queue, kQueueProperties, sizeof properties, &properties) || (properties & kOutOfOrder) != 0)
    return;
  Banks *const banks = program_state.banks().of({}, {kernel.context, device}, *kernel.function->module, plan.choice,
                                                [&] { return waveOf(kernel, device); });
  if (banks == nullptr)
    return;
  if (kernel.given != banks->memory) {
    if (call<SetArgument>(set_argument, kernel.clone, kernel.arguments, sizeof banks->memory, &banks->memory) !=
        kDone) {
      kernel.is_doubtful = true;
      return;
    }
    kernel.given = banks->memory;
  }
  if (banks->roomFor(queue) != nullptr)
    plan.banks = banks;
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
  Pending<OpenClDriver> *const room = plan.banks->roomFor(queue);
  if (room == nullptr) { // other launches took the room: a later reading includes these counts
    OpenClDriver::dropEvent(event);
    return;
  }
  if (room->is_pending)
    plan.banks->forget(*room);
  *room = {event, queue, true};
}

constexpr auto kLaunch = [](auto real, void *caller, Queue queue, Kernel kernel, unsigned dimensions, Sizes offset,
                            Sizes global, Sizes local, unsigned waits, Events wait_for, Event *event) {
  const auto recorded = [&](auto how) {
    return static_cast<int>(hook::callRecorded<hook::Known<"clEnqueueNDRangeKernel">>(
        how, caller, queue, kernel, dimensions, offset, global, local, waits, wait_for, event));
  };
  if (!program_state.hasKernels())
    return recorded(real);
  const Plan plan = planLaunch(queue, kernel, dimensions, global, local);
  if (plan.kernel == nullptr)
    return recorded(real);
  Event counted = nullptr;
  const auto launch = [&](Kernel one, Event *to) {
    return static_cast<int>(real(queue, one, dimensions, offset, global, local, waits, wait_for, to));
  };
  const auto either = [&](auto...) {
    if (plan.banks == nullptr)
      return launch(kernel, event);
    Event *const to = event != nullptr ? event : &counted;
    if (launch(plan.kernel->clone, to) == kDone) {
      counted = *to;
      if (event != nullptr)
        call<int(Event)>(retain_event, counted);
      return kDone;
    }
    plan.kernel->is_doubtful = true;
    return launch(kernel, event);
  };
  const int status = recorded(either);
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

// The program has waited for its queue.
constexpr auto kFinish = [](auto real, void *, Queue queue) {
  const int status = real(queue);
  if (status != kDone || !program_state.hasBanks())
    return status;
  const hook::OwnWork own;
  const CountedLock lock;
  releaseUnused();
  program_state.banks().readSome();
  return status;
};

} // namespace

#define MSL_PART_COUNTED_LAUNCHES
#include "msleaks/abi/functions/opencl.def"
