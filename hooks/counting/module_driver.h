// The driver of an API that loads modules and launches their functions by handles (CUDA, HIP).
#pragma once

#include "counting/placed_banks.h"
#include "devices/device.h"

namespace msleaks::hooks {

// The driver's functions, which msleaks calls without its hooks. The result 0 means success.
struct ModuleApi {
  hook::Function *allocate;      // (uint64_t *address, size_t bytes)
  hook::Function *write;         // (uint64_t address, const void *from, size_t bytes, Handle stream)
  hook::Function *read;          // (void *to, uint64_t address, size_t bytes, Handle stream)
  hook::Function *make_stream;   // (Handle *stream, unsigned flags)
  hook::Function *drop_stream;   // (Handle stream)
  hook::Function *wait;          // (Handle stream)
  hook::Function *make_event;    // (Handle *event, unsigned flags)
  hook::Function *record;        // (Handle event, Handle stream)
  hook::Function *query;         // (Handle event)
  hook::Function *is_capturing;  // (Handle stream, int *state)
  hook::Function *exchange_mode; // (int *mode): exchanges what the calling thread may do while a stream is captured
  const LastError *last;         // the error that the driver keeps for the program; null: it keeps none
  Handle (*place)();             // the context or device that the calling thread uses; null: none
  void (*enter)(Handle place);   // makes the calling thread use this context or device
  abi::Family family;
};

// A kind of object that contains kernels: module, library or binary. `find_kernel`: (Handle *kernel, Handle source,
// const char *name), `find_constant`: (uint64_t *address, size_t *bytes, Handle source, const char *name).
struct KernelSource {
  const ModuleApi *api;
  hook::Function *find_kernel, *find_constant;
  // Only for binaries that HIP's runtime loads itself; null for other sources. The hooks load such a binary a second
  // time, as a module, to read its constants. `load`: (Handle *module, const void *binary), `unload`: (Handle module).
  hook::Function *load = nullptr, *unload = nullptr;
};

inline constexpr int kDone = 0;

template <class Signature, class... Arguments>
int ask(const ModuleApi &api, hook::Function *function, Arguments... arguments) {
  if (function == nullptr)
    return kNone;
  const auto call = [&] { return callReal<Signature>(*function, arguments...); };
  return api.last != nullptr ? leavingLastError(*api.last, call) : call();
}

inline auto relaxedCapture(const ModuleApi &api) {
  return CaptureRelaxed([&api](int *mode) { ask<int(int *)>(api, api.exchange_mode, mode); });
}

// Makes the calling thread use a context or device.
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

// How PlacedBanks uses the driver. Call makeMemory() while the calling thread uses the place.
struct ModuleDriver {
  using Place = Handle; // a context or device
  using Stream = Handle;
  using Event = Handle;
  using Memory = uint64_t;

  const ModuleApi *api;

  // The stream is non-blocking: the program's streams and this stream do not wait for each other.
  Handle makeStream(Handle) const noexcept {
    constexpr unsigned kNonBlocking = 1;
    Handle stream = nullptr;
    return ask<int(Handle *, unsigned)>(*api, api->make_stream, &stream, kNonBlocking) == kDone ? stream : nullptr;
  }
  void dropStream(Handle stream) const noexcept { ask<int(Handle)>(*api, api->drop_stream, stream); }

  uint64_t makeMemory(Handle, Handle stream, const void *content, uint64_t bytes) const noexcept {
    uint64_t memory = 0;
    const bool is_made = ask<int(uint64_t *, size_t)>(*api, api->allocate, &memory, size_t{bytes}) == kDone &&
                         copyTo(stream, memory, content, bytes);
    return is_made ? memory : 0;
  }
  bool read(Handle place, Handle stream, uint64_t memory, uint64_t offset, uint64_t bytes, void *to) const noexcept {
    const auto relaxed = relaxedCapture(*api);
    const InPlace in(*api, place);
    return copyFrom(stream, memory + offset, bytes, to);
  }
  void release(uint64_t, Handle) const noexcept {} // the memory and the stream go with their place

  bool makeEvent(Handle &event) const noexcept {
    constexpr unsigned kNoTiming = 2;
    return event != nullptr || ask<int(Handle *, unsigned)>(*api, api->make_event, &event, kNoTiming) == kDone;
  }
  void dropEvent(Handle) const noexcept {} // another stream can use the event next
  bool hasEnded(Handle event) const noexcept {
    constexpr int kNotReady = 600;
    const int status = ask<int(Handle)>(*api, api->query, event);
    return status != kNotReady && status != kNone; // kNone: the driver cannot be asked now
  }
  void flush(Handle) const noexcept {} // a launch starts without it

  // Both wait until the copy has ended.
  bool copyTo(Handle stream, uint64_t address, const void *from, uint64_t bytes) const noexcept {
    using Write = int(uint64_t, const void *, size_t, Handle);
    return ask<Write>(*api, api->write, address, from, size_t{bytes}, stream) == kDone && hasWaited(stream);
  }
  bool copyFrom(Handle stream, uint64_t address, uint64_t bytes, void *to) const noexcept {
    using Read = int(void *, uint64_t, size_t, Handle);
    return ask<Read>(*api, api->read, to, address, size_t{bytes}, stream) == kDone && hasWaited(stream);
  }
  bool hasWaited(Handle stream) const noexcept { return ask<int(Handle)>(*api, api->wait, stream) == kDone; }
};

} // namespace msleaks::hooks
