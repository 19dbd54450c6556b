// Defines the callbacks for operations (launches, copies, fills and other uses of memory), and for kernels and their
// arguments (callbacks.def).
#include "callbacks.h"

#include "kernel_arguments.h"
#include "kernel_names.h"
#include "watch.h"
#include "watched_block.h"

#include <utility>

namespace msleaks::runtime {
namespace {

using abi::Traits;
using abi::Verb;

uint32_t low(uint64_t packed) noexcept { return static_cast<uint32_t>(packed); }
uint32_t high(uint64_t packed) noexcept { return static_cast<uint32_t>(packed >> 32); }

uint16_t narrowed(uint64_t value) noexcept { return value < UINT16_MAX ? static_cast<uint16_t>(value) : UINT16_MAX; }

// Returns the site for a launch. In a launch stub, this is the site of the stub's call, which says more to the user
// than a site in the stub.
uint32_t launchSite(Thread &thread, uint32_t site, Traits traits) noexcept {
  const uint32_t left = thread.call.site;
  const Traits of(thread.pending_traits);
  if (left == 0 || isRecorded(thread) || of.verb() != Verb::Launch || of.family() != traits.family())
    return site;
  thread.call.site = 0;
  return left;
}

// Tells the watch (watch.h) that an operation begins. Call this before the operation's event is recorded: earlier
// changes of watched blocks are then recorded before the event.
[[gnu::always_inline]] inline void tellWatch(Traits row, uint32_t site, const CallerFrame &frame, const void *kernel,
                                             const void *stream) noexcept {
  if (isWatching()) [[unlikely]]
    operationBegins(
        {row.verb(), row.family(), pathOfSite(enabledWord(), site, frame), addressOf(kernel), addressOf(stream)});
}

bool knowsArguments(Traits row, uint64_t kernel) noexcept {
  return row.family() == abi::Family::OpenCl && isEnabled(abi::EventKind::Access) && kernel_arguments.isKnown(kernel);
}

// Whether the launch is part of an operator that has reported its memory (hooks/ascend/atb.cpp).
bool isOfToldOperator(const Thread &thread, Traits row, const CallerFrame &frame) noexcept {
  return row.family() == abi::Family::Acl && isTold(thread, frame.stack_pointer) && isEnabled(abi::EventKind::Access);
}

// Whether the kernel may read or write memory at the argument's address.
bool isUsed(const abi::GraphArgument &row) noexcept {
  return (row.uses & abi::kIsAddress) != 0 && (row.uses & (abi::kReads | abi::kWrites)) != 0;
}

// Records, after the launch, which memory at `address` the kernel may read or write.
void recordArgument(Thread &thread, abi::EventHeader header, uint64_t address, const abi::GraphArgument &row) noexcept {
  if (address == 0 || !isUsed(row))
    return;
  header.flags |= static_cast<uint16_t>(abi::kListed | ((row.uses & abi::kReads) != 0 ? abi::kRead : 0) |
                                        ((row.uses & abi::kWrites) != 0 ? abi::kWrite : 0));
  record(thread, abi::AccessEvent{header, address + static_cast<uint64_t>(row.begin),
                                  static_cast<uint64_t>(row.end - row.begin)});
}

// Records the arguments of a launch in OpenCL. If the table does not contain an argument, its event has the address 0,
// which means memory that is not known. The analysis decides whether a word is the handle of a block. A handle is not
// an address in the buffer, so the event has no offset. The event's size is the end of the used part, counted from the
// buffer's beginning.
void recordArguments(Thread &thread, Traits row, uint32_t site, uint64_t kernel) noexcept {
  kernel_arguments.forEach(kernel, [&](uint64_t address, const abi::GraphArgument *argument) {
    const abi::EventHeader header = headerOf(abi::EventKind::Access, row, site);
    if (argument == nullptr || (address == 0 && isUsed(*argument)))
      return record(thread, abi::AccessEvent{header, address, 0});
    abi::GraphArgument of_handle = *argument;
    of_handle.begin = 0;
    of_handle.end = argument->begin < argument->end && argument->begin >= 0 ? argument->end : 0;
    recordArgument(thread, header, address, of_handle);
  });
}

uint64_t wordOf(const abi::GivenArguments &given, uint32_t index, uint32_t offset) noexcept {
  uint64_t word = 0;
  const void *const at = given.each != nullptr                                  ? given.each[index]
                         : uint64_t{offset} + sizeof word <= given.packed_bytes ? given.packed + offset
                                                                                : nullptr;
  if (at != nullptr)
    __builtin_memcpy(&word, at, sizeof word);
  return word;
}

// The parameters of a launch. Two sizes are packed into one number: x | y << 32.
struct Launch {
  const void *kernel, *stream;
  uint64_t grid_xy;
  uint32_t grid_z;
  uint64_t block_xy;
  uint32_t block_z, shared_bytes;
};

void recordLaunch(const CallerFrame &frame, uint32_t site, Traits row, const Launch &launch) noexcept {
  Thread &thread = __msl_thread;
  if (isLeftOut(thread, row))
    return;
  const uint32_t launched = launchSite(thread, site, row);
  tellWatch(row, launched, frame, launch.kernel, launch.stream);
  tellKernel(thread, row, addressOf(launch.kernel));
  abi::LaunchEvent event{};
  event.header = headerOf(abi::EventKind::Launch, row, launched);
  event.kernel = addressOf(launch.kernel);
  event.stream = addressOf(launch.stream);
  event.continuation = abi::kContinuationTag;
  event.grid_x = low(launch.grid_xy);
  event.grid_y = high(launch.grid_xy);
  event.grid_z = launch.grid_z;
  event.shared_bytes = launch.shared_bytes;
  event.block_x = narrowed(low(launch.block_xy));
  event.block_y = narrowed(high(launch.block_xy));
  event.block_z = narrowed(launch.block_z);
  const bool has_arguments = knowsArguments(row, event.kernel);
  const bool is_listed = has_arguments || isOfToldOperator(thread, row, frame);
  event.header.flags |= is_listed ? uint32_t{abi::kListed} : 0u;
  record(thread, event);
  thread.launch_site = launched;
  if (has_arguments)
    recordArguments(thread, row, launched == site ? pathOfSite(enabledWord(), site, frame) : launched, event.kernel);
  leavePending(thread, {launched, row.packed(), event.kernel});
}

// Records a copy of the program's own memory. The pending site shows the hook inside the call that the copy is
// recorded. If another site is pending, it stays: then the hook records no copy at all.
void recordHostCopy(Thread &thread, const CallerFrame &frame, abi::CopyEvent event, uint32_t traits) noexcept {
  const uint32_t site = event.header.site;
  event.header.site = pathOfSite(enabledWord(), site, frame);
  record(thread, event);
  if (isPlain(thread))
    leavePending(thread, {site, traits, event.destination});
}

} // namespace
} // namespace msleaks::runtime

using namespace msleaks;
using namespace msleaks::runtime;

void __msl_on_launch(uint32_t site, uint32_t traits, const void *kernel, const void *stream, uint64_t grid_xy,
                     uint32_t grid_z, uint64_t block_xy, uint32_t block_z, uint32_t shared_bytes) noexcept {
  recordLaunch(callerFrame(), site, Traits(traits), {kernel, stream, grid_xy, grid_z, block_xy, block_z, shared_bytes});
}

void __msl_on_launch_range(uint32_t site, uint32_t traits, const void *kernel, const void *queue, uint32_t dimensions,
                           const uint64_t *global, const uint64_t *local) noexcept {
  const auto size = [dimensions](const uint64_t *sizes, uint32_t i) -> uint64_t {
    return sizes != nullptr && i < dimensions ? sizes[i] : 1;
  };
  const auto grid = [&](uint32_t i) {
    return size(global, i) < UINT32_MAX ? static_cast<uint32_t>(size(global, i)) : UINT32_MAX;
  };
  // If the call has no local sizes, the driver chooses the sizes. They are recorded as 0.
  const auto block = [&](uint32_t i) -> uint64_t { return local != nullptr ? size(local, i) : 0; };
  recordLaunch(callerFrame(), site, Traits(traits),
               {kernel, queue, grid(0) | uint64_t{grid(1)} << 32, grid(2),
                narrowed(block(0)) | uint64_t{narrowed(block(1))} << 32, narrowed(block(2)), 0});
}

void __msl_on_copy(uint32_t site, uint32_t traits, const void *destination, const void *source, uint64_t size,
                   const void *stream, uint64_t direction) noexcept {
  Thread &thread = __msl_thread;
  const Traits row(traits);
  if (isLeftOut(thread, row))
    return;
  const abi::CopyEvent event{headerOf(abi::EventKind::Copy, row, site),
                             addressOf(destination),
                             addressOf(source),
                             abi::kContinuationTag,
                             size,
                             addressOf(stream),
                             direction};
  if (row.heap() == abi::Heap::Host)
    return recordHostCopy(thread, callerFrame(), event, traits);
  tellWatch(row, site, callerFrame(), nullptr, stream);
  record(thread, event);
  leavePending(thread, {site, traits, addressOf(destination)});
}

void __msl_on_set(uint32_t site, uint32_t traits, const void *destination, uint64_t value, uint64_t size,
                  const void *stream) noexcept {
  Thread &thread = __msl_thread;
  const Traits row(traits);
  if (isLeftOut(thread, row))
    return;
  tellWatch(row, site, callerFrame(), nullptr, stream);
  const abi::SetEvent event{headerOf(abi::EventKind::Set, row, site),
                            addressOf(destination),
                            size,
                            abi::kContinuationTag,
                            addressOf(stream),
                            value,
                            0};
  record(thread, event);
  leavePending(thread, {site, traits, addressOf(destination)});
}

void __msl_on_failed(uint32_t site, uint32_t traits, const void *handle, int64_t status) noexcept {
  Thread &thread = __msl_thread;
  const Traits row(traits);
  if (isLeftOut(thread, row))
    return;
  thread.launch_site = 0;
  if (isWatching()) [[unlikely]]
    operationEnds();
  if (!mustTell(thread, site, row, addressOf(handle), status))
    return;
  record(thread, abi::FailedEvent{headerOf(abi::EventKind::Failed, row, site), addressOf(handle),
                                  static_cast<uint64_t>(status)});
}

// Stores an argument of a kernel. This happens even while the session is stopped, since the session may record again
// before the launch.
void __msl_on_argument(uint32_t, const void *kernel, uint32_t index, uint64_t size, const void *value) noexcept {
  uint64_t word = 0;
  if (value != nullptr && size == sizeof word)
    __builtin_memcpy(&word, value, sizeof word);
  kernel_arguments.set(addressOf(kernel), index, word);
}

void __msl_on_kernel(uint32_t, const void *kernel, uint32_t copied) noexcept {
  kernelBegins(addressOf(kernel));
  kernel_arguments.begin(addressOf(kernel), copied ? KernelArguments::Given::Unknown : KernelArguments::Given::None);
}

void __msl_kernel_arguments(const void *kernel, const abi::ArgumentRows *arguments) noexcept {
  kernel_arguments.describe(addressOf(kernel), *arguments);
}

// Records the arguments of the thread's last recorded launch, once for each launch.
void __msl_launch_arguments(uint32_t traits, const abi::ArgumentRows *arguments,
                            const abi::GivenArguments *given) noexcept {
  Thread &thread = __msl_thread;
  const uint32_t launched = std::exchange(thread.launch_site, 0);
  if (launched == 0 || isStopped() || !isEnabled(abi::EventKind::Access))
    return;
  const uint32_t site = pathOfSite(enabledWord(), launched, callerFrame());
  abi::EventHeader header = headerOf(abi::EventKind::Access, Traits(traits), site);
  const auto *row = static_cast<const char *>(arguments->rows);
  for (uint32_t index = 0; index < arguments->count; ++index, row += arguments->row_bytes) {
    const auto &argument = *reinterpret_cast<const abi::GraphArgument *>(row);
    if ((argument.uses & abi::kIsAddress) != 0)
      recordArgument(thread, header, wordOf(*given, index, argument.offset), argument);
  }
  header.flags |= arguments->uses_others ? 0 : abi::kListed;
  record(thread, abi::AccessEvent{header, 0, 0});
}

void __msl_on_access(uint32_t site, uint32_t traits, const void *address, uint32_t flags) noexcept {
  Thread &thread = __msl_thread;
  const Traits row(traits);
  if (isLeftOut(thread, row))
    return;
  if (address != nullptr)
    tellWatch(row, site, callerFrame(), nullptr, nullptr);
  if ((enabledWord() & abi::enabledBit(abi::EventKind::Access)) == 0)
    return;
  abi::EventHeader header = headerOf(abi::EventKind::Access, row, site);
  header.flags |= flags;
  record(thread, abi::AccessEvent{header, addressOf(address), 0});
}
