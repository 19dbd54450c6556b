#include "counting/copy_arguments.h"
#include "counting/loaded_kernel.h"
#include "counting/module_kernels.h"

namespace msleaks::hooks {
namespace {

// The kernel that the calling thread is launching. Some launch functions call another hooked one, which must not count
// the launch again.
[[gnu::tls_model("initial-exec")]] thread_local Handle launching = nullptr;

} // namespace

ModuleLaunch::ModuleLaunch(Handle kernel, const LaunchShape &shape, Handle stream, void **each, void **packed) noexcept
    : stream_(stream), shape_(shape) {
  if (!module_state.hasKernels() || launching == kernel || !countsLaunches(choice_))
    return;
  const hook::OwnWork own;
  const CountedLock lock;
  known_ = module_state.kernels().find(kernel);
  if (known_ == nullptr)
    return;
  launching = kernel;
  if (!known_->is_doubtful)
    plan(each, packed);
}

void ModuleLaunch::plan(void **each, void **packed) noexcept {
  const ModuleApi &api = *known_->source->api;
  counts_ = known_->told;
  if (api.last != nullptr && callReal<int()>(api.last->look) > 0)
    return;
  int state = 0;
  ask<int(Handle, int *)>(api, api.is_capturing, stream_, &state);
  const auto relaxed = relaxedCapture(api);
  if (known_->in_kernel) {
    is_captured_ = state != 0;
    planInKernel();
    return;
  }
  if (known_->function == nullptr && !describe(*known_)) {
    known_->is_doubtful = true;
    return;
  }
  if (state != 0 || shape_.threads == 0 || !isWanted(*known_->function, choice_, shape_.threads))
    return;
  ModuleBanks *const banks = banksFor(*known_, choice_);
  if (banks == nullptr || banks->roomFor(stream_) == nullptr)
    return;
  arguments_ = takeArguments();
  if (arguments_ == nullptr || !arguments_->take(known_->row, banks->memory, each, packed))
    return;
  banks_ = banks;
  counts_ = banks->memory;
  copy_ = known_->copy;
}

void ModuleLaunch::planInKernel() noexcept {
  if (known_->told == 0 && !tellModule(*known_, choice_)) {
    known_->is_doubtful = true;
    return;
  }
  counts_ = known_->told;
  banks_ = banksFor(*known_, choice_);
  if (banks_ != nullptr)
    banks_->roomFor(stream_);
}

ModuleLaunch::~ModuleLaunch() {
  if (known_ != nullptr)
    launching = nullptr;
  if (arguments_ == nullptr)
    return;
  const CountedLock lock;
  giveArguments(arguments_);
}

void **ModuleLaunch::each() const noexcept { return arguments_->is_each ? arguments_->each : nullptr; }
void **ModuleLaunch::packed() const noexcept { return arguments_->is_each ? nullptr : arguments_->packed; }

void ModuleLaunch::tellArguments(void **each, void **packed) const noexcept {
  if (known_ == nullptr || known_->function == nullptr || known_->function->arguments.rows == nullptr)
    return;
  const PackedArguments behind = packedIn(packed);
  if (each == nullptr && behind.from == nullptr && known_->function->arguments.count != 0)
    return; // the arguments are not known
  const abi::GivenArguments given{each, behind.from, behind.bytes};
  constexpr abi::Heap kHeap = abi::Heap::Device;
  const abi::Traits traits(abi::Verb::Launch, known_->source->api->family, kHeap, abi::kFromHook);
  __msl_launch_arguments(traits.packed(), &known_->function->arguments, &given);
}

void ModuleLaunch::refused() noexcept {
  copy_ = nullptr;
  counts_ = 0;
  known_->is_doubtful = true;
}

void ModuleLaunch::launched() noexcept {
  const hook::OwnWork own;
  const CountedLock lock;
  if (known_->function == nullptr || is_captured_) // a graph's launches pass through no hook
    return;
  noteLaunch(*known_->function, choice_, shape_, counts_ != 0);
  const bool is_there = banks_ != nullptr && banks_->memory == counts_;
  auto *const room = is_there ? banks_->roomFor(stream_) : nullptr;
  if (room == nullptr) // other launches took the room: a later reading includes these counts
    return;
  const ModuleApi &api = *banks_->driver.api;
  room->stream = stream_;
  room->is_pending = ask<int(Handle, Handle)>(api, api.record, room->event, stream_) == kDone;
}

} // namespace msleaks::hooks
