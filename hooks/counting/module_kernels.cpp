#include "counting/module_kernels.h"

#include "counting/counted_banks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <time.h>
#include <unistd.h>
#include <utility>

namespace msleaks::hooks {

constexpr uint32_t kMostStreams = 8;

// The last counted launch on a stream of the program, which may still run. The event is not destroyed: another stream
// can use it next.
struct Pending {
  Handle event, stream;
  bool is_pending;
};

// The counters of a module in the memory of one context or device.
struct PlacedBanks {
  CountedBanks banks;
  const ModuleApi *api;
  Handle place;
  uint64_t memory; // 0: this object is free for another buffer
  Handle stream;   // a stream of msleaks' own
  Pending pending[kMostStreams];
  uint64_t read_ns;
  PlacedBanks *next;
};

struct LoadedKernel {
  Handle kernel; // null: this object is free for another kernel
  Handle copy, module;
  const KernelSource *source;
  const char *name;
  abi::DeviceKernel row;
  CountedFunction *function; // null: the kernel was not launched yet
  bool is_doubtful;          // the copy is not launched
  bool in_kernel;            // the kernel counts itself, and there is no copy
  uint64_t told;             // if in_kernel: the address of counters in the module's variable; 0: not written yet
  LoadedKernel *next;
};

constexpr uint32_t kMostArguments = 256;
constexpr uint64_t kMostBytes = 4096;

// The arguments of a launched copy. The struct is too large for the stack of the thread that launches.
struct CopyArguments {
  uint64_t counts; // the copy's last argument
  bool is_each;
  size_t bytes;
  void *each[kMostArguments + 1];
  void *packed[5];
  alignas(16) char content[kMostBytes + sizeof(uint64_t)];
  CopyArguments *next;

  bool take(const abi::DeviceKernel &row, void **given, void **given_packed);
};

namespace {

constexpr int kDone = 0;
constexpr unsigned kNonBlocking = 1, kNoTiming = 2;
constexpr uint64_t kReadAgainNs = 100'000'000, kWaitAtEndNs = 2'000'000'000;
constexpr size_t kMostName = 4096, kBuckets = 256, kNameBuckets = 1024;

// The name's text follows this struct in memory.
struct Name {
  Name *next;
  const char *text() const { return reinterpret_cast<const char *>(this + 1); }
};

struct ModuleState {
  LoadedKernel *kernels[kBuckets];
  PlacedBanks *banks;    // whether this is null is read without the lock
  uint32_t kernel_count; // other threads read it without the lock
  int counting_pid;      // pid of the process whose exit handler reads the counters
  CopyArguments *unused_arguments;
  Name *names[kNameBuckets];
  char our_name[kMostName];
};
Wiped<ModuleState> module_state;

// Only for code that runs after the first kernel was added, because that makes module_state.
ModuleState &moduleState() { return *module_state.get(); }

// The kernel that the calling thread is launching. Some launch functions call another hooked one, which must not count
// the launch again.
[[gnu::tls_model("initial-exec")]] thread_local Handle launching = nullptr;

template <class Signature, class... Arguments>
int ask(const ModuleApi &api, hook::Function *function, Arguments... arguments) {
  if (function == nullptr)
    return kNone;
  const auto call = [&] { return callReal<Signature>(*function, arguments...); };
  return api.last != nullptr ? leavingLastError(*api.last, call) : call();
}

bool hasKernels() {
  const ModuleState *const known = module_state.get();
  return known != nullptr && __atomic_load_n(&known->kernel_count, __ATOMIC_RELAXED) != 0;
}
bool hasBanks() {
  const ModuleState *const known = module_state.get();
  return known != nullptr && __atomic_load_n(&known->banks, __ATOMIC_RELAXED) != nullptr;
}

LoadedKernel *&bucketOf(Handle kernel) {
  return moduleState().kernels[reinterpret_cast<uintptr_t>(kernel) / 16 % kBuckets];
}

LoadedKernel *find(Handle kernel) {
  LoadedKernel *known = bucketOf(kernel);
  while (known != nullptr && known->kernel != kernel)
    known = known->next;
  return kernel != nullptr ? known : nullptr;
}

void forget(LoadedKernel &kernel) {
  kernel.kernel = nullptr;
  __atomic_fetch_sub(&moduleState().kernel_count, 1u, __ATOMIC_RELAXED);
}

auto relaxedCapture(const ModuleApi &api) {
  return CaptureRelaxed([&api](int *mode) { ask<int(int *)>(api, api.exchange_mode, mode); });
}

class InPlace {
public:
  InPlace(const ModuleApi &api, Handle place) : api_(api), before_(api.place()), is_other_(before_ != place) {
    if (is_other_)
      api_.enter(place);
  }
  ~InPlace() {
    if (is_other_)
      api_.enter(before_);
  }
  InPlace(const InPlace &) = delete;
  InPlace &operator=(const InPlace &) = delete;

private:
  const ModuleApi &api_;
  Handle before_;
  bool is_other_;
};

// ---- reading counters

bool isIdle(PlacedBanks &banks) {
  constexpr int kNotReady = 600;
  bool is_idle = true;
  for (Pending &launched : banks.pending) {
    if (!launched.is_pending)
      continue;
    const int status = ask<int(Handle)>(*banks.api, banks.api->query, launched.event);
    launched.is_pending = status == kNotReady || status == kNone; // kNone: the driver cannot be asked now
    is_idle = is_idle && !launched.is_pending;
  }
  return is_idle;
}

bool copyFrom(const ModuleApi &api, Handle stream, uint64_t address, uint64_t bytes, void *to) {
  return ask<int(void *, uint64_t, size_t, Handle)>(api, api.read, to, address, size_t{bytes}, stream) == kDone &&
         ask<int(Handle)>(api, api.wait, stream) == kDone;
}

void read(PlacedBanks &banks) {
  banks.read_ns = now();
  const uint64_t bytes = banks.banks.counterBytes();
  if (bytes == 0)
    return;
  const auto relaxed = relaxedCapture(*banks.api);
  const InPlace in(*banks.api, banks.place);
  if (copyFrom(*banks.api, banks.stream, banks.memory + sizeof(abi::DeviceCounts), bytes, banks.banks.counters()))
    addRead(banks.banks);
}

// Reads the counters at the exit. The wait is bounded, because a launch may wait for something that the program never
// does. A fork's child inherits the exit handler, but it has no counters and must not call the driver.
void readAtEnd() {
  if (moduleState().counting_pid != ::getpid())
    return;
  const hook::OwnWork own;
  const CountedLock lock;
  for (PlacedBanks *banks = moduleState().banks; banks != nullptr; banks = banks->next) {
    const uint64_t until = now() + kWaitAtEndNs;
    while (banks->memory != 0 && !isIdle(*banks) && now() < until) {
      constexpr timespec kMoment = {0, 50'000};
      ::nanosleep(&kMoment, nullptr);
    }
    if (banks->memory != 0)
      read(*banks);
    banks->memory = 0; // what other exit handlers launch is not counted
  }
  for (LoadedKernel *kernel : moduleState().kernels)
    for (; kernel != nullptr; kernel = kernel->next)
      kernel->is_doubtful = true;
}

// ---- buffers

PlacedBanks *freeBanks() {
  for (PlacedBanks *banks = moduleState().banks; banks != nullptr; banks = banks->next)
    if (banks->memory == 0)
      return banks;
  auto *added = static_cast<PlacedBanks *>(keep(sizeof(PlacedBanks)));
  if (added != nullptr) {
    added->next = moduleState().banks;
    __atomic_store_n(&moduleState().banks, added, __ATOMIC_RELAXED);
  }
  return added;
}

// A stream of msleaks' own. It is non-blocking: the program's streams and this stream do not wait for each other.
class OwnStream {
public:
  explicit OwnStream(const ModuleApi &api) : api_(api) {
    if (ask<int(Handle *, unsigned)>(api, api.make_stream, &stream_, kNonBlocking) != kDone)
      stream_ = nullptr;
  }
  ~OwnStream() {
    if (stream_ != nullptr)
      ask<int(Handle)>(api_, api_.drop_stream, stream_);
  }
  OwnStream(const OwnStream &) = delete;
  OwnStream &operator=(const OwnStream &) = delete;
  Handle get() const { return stream_; }
  Handle keep() { return std::exchange(stream_, nullptr); }

private:
  const ModuleApi &api_;
  Handle stream_ = nullptr;
};

bool copyTo(const ModuleApi &api, Handle stream, uint64_t address, const void *from, uint64_t bytes) {
  return ask<int(uint64_t, const void *, size_t, Handle)>(api, api.write, address, from, size_t{bytes}, stream) ==
             kDone &&
         ask<int(Handle)>(api, api.wait, stream) == kDone;
}

bool fill(PlacedBanks &made, const LoadedKernel &kernel, Handle place, const abi::DeviceChoice &choice) {
  const ModuleApi &api = *kernel.source->api;
  OwnStream stream(api);
  CountedBanks banks;
  uint64_t memory = 0;
  if (stream.get() == nullptr || !makeBanks(banks, *kernel.function->module, choice, kernel.row.wave))
    return false;
  if (ask<int(uint64_t *, size_t)>(api, api.allocate, &memory, size_t{banks.bytes}) != kDone ||
      !copyTo(api, stream.get(), memory, banks.content, banks.bytes)) {
    dropBanks(banks);
    return false;
  }
  made.banks = banks;
  made.api = &api;
  made.place = place;
  made.stream = stream.keep();
  made.read_ns = now();
  std::memset(made.pending, 0, sizeof made.pending);
  made.memory = memory;
  return true;
}

PlacedBanks *banksFor(const LoadedKernel &kernel, const abi::DeviceChoice &choice) {
  const Handle place = kernel.source->api->place();
  for (PlacedBanks *banks = moduleState().banks; banks != nullptr; banks = banks->next)
    if (banks->memory != 0 && banks->banks.module == kernel.function->module && banks->place == place)
      return banks;
  PlacedBanks *const made = place != nullptr ? freeBanks() : nullptr;
  return made != nullptr && fill(*made, kernel, place, choice) ? made : nullptr;
}

Pending *roomFor(PlacedBanks &banks, Handle stream) {
  Pending *room = nullptr;
  for (Pending &launched : banks.pending)
    if (launched.is_pending && launched.stream == stream)
      return &launched;
  isIdle(banks);
  for (Pending &launched : banks.pending)
    if (!launched.is_pending)
      room = &launched;
  if (room != nullptr && room->event == nullptr &&
      ask<int(Handle *, unsigned)>(*banks.api, banks.api->make_event, &room->event, kNoTiming) != kDone)
    return nullptr;
  return room;
}

// ---- a module's constants about a kernel

// A module with the constants of a kernel. If the source has `load`, this object loads and unloads the module.
class ReadModule {
public:
  explicit ReadModule(const LoadedKernel &kernel) : source(*kernel.source), handle_(kernel.module) {
    if (source.load != nullptr &&
        ask<int(Handle *, const void *)>(*source.api, source.load, &handle_, kernel.module) != kDone)
      handle_ = nullptr;
  }
  ~ReadModule() {
    if (source.load != nullptr && handle_ != nullptr)
      ask<int(Handle)>(*source.api, source.unload, handle_);
  }
  ReadModule(const ReadModule &) = delete;
  ReadModule &operator=(const ReadModule &) = delete;
  Handle get() const { return handle_; }
  const KernelSource &source;

private:
  Handle handle_;
};

// A constant of a module. copy() reads from its first byte.
class Constant {
public:
  Constant(const ReadModule &module, const char *name, Handle stream) : api_(*module.source.api), stream_(stream) {
    size_t bytes = 0;
    if (module.get() != nullptr &&
        ask<int(uint64_t *, size_t *, Handle, const char *)>(api_, module.source.find_constant, &address_, &bytes,
                                                             module.get(), name) == kDone)
      bytes_ = bytes;
  }
  uint64_t address() const { return address_; }
  uint64_t bytes() const { return bytes_; }
  bool copy(void *to, uint64_t bytes) const { return bytes <= bytes_ && copyFrom(api_, stream_, address_, bytes, to); }

private:
  const ModuleApi &api_;
  Handle stream_;
  uint64_t address_ = 0, bytes_ = 0;
};

CountedModule *moduleOf(const ReadModule &in, const char *name, Handle stream) {
  const Constant table(in, name, stream);
  return readModule(name, table.bytes(), [&](void *to, uint64_t bytes) { return table.copy(to, bytes); });
}

// Reads what the module's constants say about the kernel. Call this at the kernel's first launch: only then the calling
// thread is sure to use the module's device.
bool describe(LoadedKernel &kernel) {
  char (&our_name)[kMostName] = moduleState().our_name;
  std::snprintf(our_name, sizeof our_name, "%s%s", abi::kKernelPrefix, kernel.name);
  const OwnStream stream(*kernel.source->api);
  const ReadModule in(kernel);
  const Constant row(in, our_name, stream.get());
  if (stream.get() == nullptr || !row.copy(&kernel.row, sizeof kernel.row))
    return false;
  if (kernel.row.version != abi::kDeviceCountsVersion || kernel.row.table[sizeof kernel.row.table - 1] != 0) {
    noteUncounted(kernel.name, "its module describes it in another version");
    return false;
  }
  CountedModule *module = findModule(kernel.row.table);
  if (module == nullptr)
    module = moduleOf(in, kernel.row.table, stream.get());
  kernel.function = module != nullptr ? functionOf(*module, kernel.name) : nullptr;
  return kernel.function != nullptr;
}

// For kernels that count themselves: writes the counters' address into the variable of the kernel's module. Each later
// launch of a kernel of the module uses it.
bool tellModule(LoadedKernel &kernel, const abi::DeviceChoice &choice) {
  if (kernel.function == nullptr && !describe(kernel))
    return false;
  const PlacedBanks *const banks = banksFor(kernel, choice);
  if (banks == nullptr)
    return false;
  char (&our_name)[kMostName] = moduleState().our_name;
  std::snprintf(our_name, sizeof our_name, "%s%s", abi::kCountsPrefix,
                kernel.row.table + sizeof abi::kGraphsPrefix - 1);
  const ReadModule module(kernel);
  const Constant variable(module, our_name, banks->stream);
  if (variable.bytes() == sizeof banks->memory &&
      copyTo(*banks->api, banks->stream, variable.address(), &banks->memory, sizeof banks->memory))
    kernel.told = banks->memory;
  return kernel.told != 0;
}

// ---- kernels

LoadedKernel *freeKernel(Handle kernel) {
  LoadedKernel *&bucket = bucketOf(kernel);
  for (LoadedKernel *known = bucket; known != nullptr; known = known->next)
    if (known->kernel == nullptr)
      return known;
  auto *added = static_cast<LoadedKernel *>(keep(sizeof(LoadedKernel)));
  if (added != nullptr) {
    added->next = bucket;
    bucket = added;
  }
  return added;
}

void remember(const LoadedKernel &made) {
  LoadedKernel *const added = freeKernel(made.kernel);
  if (added == nullptr)
    return;
  LoadedKernel *const next = added->next;
  *added = made;
  added->next = next;
  if (__atomic_fetch_add(&moduleState().kernel_count, 1u, __ATOMIC_RELAXED) == 0 && moduleState().counting_pid == 0) {
    // The driver has already registered its own exit handlers. So this handler runs before them.
    moduleState().counting_pid = ::getpid();
    ::atexit(readAtEnd);
  }
}

// Returns a copy of the name that is never freed. A program may load a module many times, so each name is copied once.
const char *kept(const char *name) {
  const size_t bytes = std::strlen(name) + 1;
  Name *&names = moduleState().names[abi::fnv1a32(reinterpret_cast<const unsigned char *>(name), bytes) % kNameBuckets];
  for (const Name *known = names; known != nullptr; known = known->next)
    if (std::strcmp(known->text(), name) == 0)
      return known->text();
  auto *const added = static_cast<Name *>(keep(sizeof(Name) + bytes));
  if (added == nullptr)
    return nullptr;
  std::memcpy(added + 1, name, bytes);
  added->next = names;
  names = added;
  return added->text();
}

bool isOurs(const char *name) { return std::strncmp(name, abi::kCountedPrefix, sizeof abi::kCountedPrefix - 1) == 0; }

// Returns the kernel whose name is `prefix` followed by `name`; null: there is none.
Handle findNamed(const KernelSource &source, Handle module, const char *prefix, const char *name) {
  auto *const full_name = static_cast<char *>(takePages(kMostName));
  if (full_name == nullptr)
    return nullptr;
  std::snprintf(full_name, kMostName, "%s%s", prefix, name);
  using Find = int(Handle *, Handle, const char *);
  Handle found = nullptr;
  const bool is_found = ask<Find>(*source.api, source.find_kernel, &found, module, full_name) == kDone;
  givePages(full_name, kMostName);
  return is_found ? found : nullptr;
}

// The kernel that belongs to a program's kernel: its counted copy, or the mark of a kernel that counts itself.
struct Beside {
  Handle kernel = nullptr; // null: the program has neither
  bool in_kernel = false;
};

Beside findBeside(const KernelSource &source, Handle module, const char *name, abi::DeviceChoice &choice) {
  constexpr size_t kLongestPrefix = std::max(sizeof abi::kCountedPrefix, sizeof abi::kInKernelPrefix);
  if (isOurs(name) || std::strlen(name) + kLongestPrefix > kMostName || !countsLaunches(choice))
    return {};
  if (const Handle copy = findNamed(source, module, abi::kCountedPrefix, name))
    return {copy, false};
  return {findNamed(source, module, abi::kInKernelPrefix, name), true};
}

} // namespace

void kernelFound(const KernelSource &source, Handle module, Handle kernel, const char *name) noexcept {
  const hook::OwnWork own;
  abi::DeviceChoice choice;
  // The lock is not held here, because a driver may call itself through the hooks.
  const Beside beside = findBeside(source, module, name, choice);
  if (beside.kernel == nullptr && !hasKernels())
    return;
  const CountedLock lock;
  if (!lock || module_state.make() == nullptr)
    return;
  LoadedKernel *const known = find(kernel);
  if (known != nullptr && known->copy == beside.kernel && known->module == module)
    return;
  if (known != nullptr) // the handle belonged to an unloaded module
    forget(*known);
  const char *const text = beside.kernel != nullptr ? kept(name) : nullptr;
  if (text == nullptr)
    return;
  remember({kernel, beside.kernel, module, &source, text, {}, nullptr, false, beside.in_kernel, 0, nullptr});
  if (LoadedKernel *const added = beside.in_kernel ? find(kernel) : nullptr) // its launches may pass through no hook
    tellModule(*added, choice);
}

void kernelRegistered(const KernelSource &source, Handle binary, Handle kernel, Handle copy,
                      const char *name) noexcept {
  const CountedLock lock;
  if (!lock || module_state.make() == nullptr)
    return;
  if (LoadedKernel *const known = find(kernel)) // the stub belonged to an unloaded library
    forget(*known);
  if (const char *const text = kept(name))
    remember({kernel, copy, binary, &source, text, {}, nullptr, false, false, 0, nullptr});
}

void kernelNamed(Handle kernel, Handle other, Handle (*copyOf)(Handle copy)) noexcept {
  if (!hasKernels() || kernel == other)
    return;
  const hook::OwnWork own;
  const CountedLock lock;
  const LoadedKernel *const known = find(kernel);
  LoadedKernel *const before = find(other);
  if (before != nullptr && known != nullptr && before->source == known->source && before->name == known->name)
    return;
  if (before != nullptr)
    forget(*before);
  LoadedKernel added = known != nullptr ? *known : LoadedKernel{};
  added.kernel = other;
  added.copy = known != nullptr ? copyOf(known->copy) : nullptr;
  if (added.copy != nullptr)
    remember(added);
}

Handle countedCopyOf(Handle kernel) noexcept {
  if (!hasKernels())
    return nullptr;
  const CountedLock lock;
  const LoadedKernel *const known = find(kernel);
  return known != nullptr && !known->is_doubtful ? known->copy : nullptr;
}

void moduleGoes(Handle module) noexcept {
  if (!hasKernels())
    return;
  const CountedLock lock;
  for (LoadedKernel *kernel : moduleState().kernels)
    for (; kernel != nullptr; kernel = kernel->next)
      if (kernel->kernel != nullptr && kernel->module == module)
        forget(*kernel);
}

void placeGoes(Handle place) noexcept {
  if (!hasBanks())
    return;
  const hook::OwnWork own;
  const CountedLock lock;
  for (PlacedBanks *banks = moduleState().banks; banks != nullptr; banks = banks->next) {
    if (banks->memory == 0 || (place != nullptr && banks->place != place))
      continue;
    read(*banks);
    dropBanks(banks->banks);
    banks->memory = 0;
  }
  for (LoadedKernel *kernel : moduleState().kernels)
    for (; kernel != nullptr; kernel = kernel->next)
      kernel->told = 0; // the next launch writes the address again
}

void deviceWaited() noexcept {
  if (!hasBanks())
    return;
  const hook::OwnWork own;
  const CountedLock lock;
  for (PlacedBanks *banks = moduleState().banks; banks != nullptr; banks = banks->next)
    if (banks->memory != 0 && now() - banks->read_ns >= kReadAgainNs && isIdle(*banks))
      read(*banks);
}

// ---- a launch

ModuleLaunch::ModuleLaunch(Handle kernel, const LaunchShape &shape, Handle stream, void **each, void **packed) noexcept
    : stream_(stream), shape_(shape) {
  if (!hasKernels() || launching == kernel || !countsLaunches(choice_))
    return;
  const hook::OwnWork own;
  const CountedLock lock;
  known_ = find(kernel);
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
  PlacedBanks *const banks = banksFor(*known_, choice_);
  if (banks == nullptr || roomFor(*banks, stream_) == nullptr)
    return;
  arguments_ = moduleState().unused_arguments;
  if (arguments_ != nullptr)
    moduleState().unused_arguments = arguments_->next;
  else
    arguments_ = static_cast<CopyArguments *>(keep(sizeof(CopyArguments)));
  if (arguments_ == nullptr)
    return;
  arguments_->counts = banks->memory;
  if (!arguments_->take(known_->row, each, packed))
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
    roomFor(*banks_, stream_);
}

ModuleLaunch::~ModuleLaunch() {
  if (known_ != nullptr)
    launching = nullptr;
  if (arguments_ == nullptr)
    return;
  const CountedLock lock;
  arguments_->next = moduleState().unused_arguments;
  moduleState().unused_arguments = arguments_;
}

void **ModuleLaunch::each() const noexcept { return arguments_->is_each ? arguments_->each : nullptr; }
void **ModuleLaunch::packed() const noexcept { return arguments_->is_each ? nullptr : arguments_->packed; }

namespace {

// A buffer that contains all arguments, as cuLaunchKernel takes it.
struct PackedArguments {
  const char *from = nullptr; // null: there are none, or the list has an entry that we do not know
  size_t bytes = 0;
};

constexpr uintptr_t kPackedPlace = 1, kPackedBytes = 2;

PackedArguments packedIn(void *const *list) {
  PackedArguments found;
  for (; list != nullptr && *list != nullptr; list += 2)
    switch (reinterpret_cast<uintptr_t>(*list)) {
    case kPackedPlace:
      found.from = static_cast<const char *>(list[1]);
      break;
    case kPackedBytes:
      found.bytes = *static_cast<const size_t *>(list[1]);
      break;
    default:
      return {};
    }
  return found;
}

} // namespace

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

// Copies the program's arguments, and adds the address of the counters as the last one.
bool CopyArguments::take(const abi::DeviceKernel &row, void **given, void **given_packed) {
  is_each = given != nullptr || row.arguments == 0;
  if (is_each) {
    if (row.arguments > kMostArguments)
      return false;
    if (row.arguments != 0)
      std::memcpy(each, given, row.arguments * sizeof *given);
    each[row.arguments] = &counts;
    return true;
  }
  const PackedArguments from = packedIn(given_packed);
  if (from.from == nullptr || row.counts_offset > kMostBytes)
    return false;
  std::memcpy(content, from.from, from.bytes < row.counts_offset ? from.bytes : row.counts_offset);
  std::memcpy(content + row.counts_offset, &counts, sizeof counts);
  bytes = row.counts_offset + sizeof counts;
  void *const list[] = {reinterpret_cast<void *>(kPackedPlace), content, reinterpret_cast<void *>(kPackedBytes), &bytes,
                        nullptr};
  std::memcpy(packed, list, sizeof list);
  return true;
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
  Pending *const room = is_there ? roomFor(*banks_, stream_) : nullptr;
  if (room == nullptr) // other launches took the room: a later reading includes these counts
    return;
  room->stream = stream_;
  room->is_pending = ask<int(Handle, Handle)>(*banks_->api, banks_->api->record, room->event, stream_) == kDone;
}

} // namespace msleaks::hooks
