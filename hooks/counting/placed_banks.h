// Buffers with counters in the memory of devices, and the counted launches that may still run there. The hooks never
// wait for a stream of the program, except at the exit. They fill and read the buffers through streams of their own.
//
// `Driver` is how an API does this: ModuleDriver (counting/module_driver.h) or OpenClDriver (opencl/driver.h). It has
// the types Place (where a buffer lies), Stream, Event and Memory. Zeros of these types mean that there is none.
#pragma once

#include "counting/counted_banks.h"
#include "counting/handle_table.h"

#include "msleaks/hook.h"

#include <time.h>
#include <utility>

namespace msleaks::hooks {

// A stream of msleaks' own.
template <class Driver> class OwnStream {
public:
  OwnStream(const Driver &driver, const typename Driver::Place &place)
      : driver_(driver), stream_(driver.makeStream(place)) {}
  ~OwnStream() {
    if (stream_ != nullptr)
      driver_.dropStream(stream_);
  }
  OwnStream(const OwnStream &) = delete;
  OwnStream &operator=(const OwnStream &) = delete;
  typename Driver::Stream get() const { return stream_; }
  typename Driver::Stream keep() { return std::exchange(stream_, nullptr); }

private:
  Driver driver_;
  typename Driver::Stream stream_;
};

// The last counted launch on a stream of the program, which may still run.
template <class Driver> struct Pending {
  typename Driver::Event event;
  typename Driver::Stream stream;
  bool is_pending;
};

// The counters of a module in one place.
template <class Driver> struct PlacedBanks {
  static constexpr uint32_t kMostStreams = 8;

  CountedBanks banks;
  [[no_unique_address]] Driver driver;
  typename Driver::Place place;
  typename Driver::Memory memory; // zero: this object is free for another buffer
  typename Driver::Stream stream; // a stream of msleaks' own
  Pending<Driver> pending[kMostStreams];
  uint64_t read_ns;
  PlacedBanks *next;

  // False: the buffer cannot be made.
  bool fill(const Driver &with, const typename Driver::Place &in, CountedModule &module,
            const abi::DeviceChoice &choice, uint32_t wave) noexcept {
    OwnStream<Driver> own(with, in);
    CountedBanks made;
    if (own.get() == nullptr || !makeBanks(made, module, choice, wave))
      return false;
    const auto made_memory = with.makeMemory(in, own.get(), made.content, made.bytes);
    if (!made_memory) {
      dropBanks(made);
      return false;
    }
    *this = {made, with, in, made_memory, own.keep(), {}, now(), next};
    return true;
  }

  void forget(Pending<Driver> &launched) const noexcept {
    driver.dropEvent(launched.event);
    launched.is_pending = false;
  }

  bool isIdle() noexcept {
    bool is_idle = true;
    for (Pending<Driver> &launched : pending) {
      if (launched.is_pending && driver.hasEnded(launched.event))
        forget(launched);
      is_idle = is_idle && !launched.is_pending;
    }
    return is_idle;
  }

  // Where the next launch on this stream is noted. Null: launches on too many other streams still run.
  Pending<Driver> *roomFor(typename Driver::Stream of) noexcept {
    for (Pending<Driver> &launched : pending)
      if (launched.is_pending && launched.stream == of)
        return &launched;
    isIdle();
    Pending<Driver> *room = nullptr;
    for (Pending<Driver> &launched : pending)
      if (!launched.is_pending)
        room = &launched;
    return room != nullptr && driver.makeEvent(room->event) ? room : nullptr;
  }

  // Reads the counters, and adds their growth since the last reading.
  void read() noexcept {
    read_ns = now();
    const uint64_t bytes = banks.counterBytes();
    if (bytes != 0 && driver.read(place, stream, memory, sizeof(abi::DeviceCounts), bytes, banks.counters()))
      addRead(banks);
  }

  // Waits until the launches have ended, but not forever: a launch may wait for something that the program never does.
  void wait() noexcept {
    constexpr uint64_t kMostNs = 2'000'000'000;
    for (const Pending<Driver> &launched : pending)
      if (launched.is_pending)
        driver.flush(launched.stream);
    const uint64_t until = now() + kMostNs;
    while (!isIdle() && now() < until) {
      constexpr timespec kMoment = {0, 50'000};
      ::nanosleep(&kMoment, nullptr);
    }
  }

  // Reads the counters for the last time.
  void drop() noexcept {
    read();
    for (Pending<Driver> &launched : pending)
      if (launched.is_pending)
        forget(launched);
    driver.release(memory, stream);
    dropBanks(banks);
    memory = {};
  }
};

// A list of zeros is empty. Hold CountedLock, except for hasAny().
template <class Driver> class BanksList {
public:
  using Banks = PlacedBanks<Driver>;

  bool hasAny() const noexcept { return __atomic_load_n(&first_, __ATOMIC_RELAXED) != nullptr; }

  template <class F> void forEach(F f) const {
    for (Banks *banks = first_; banks != nullptr; banks = banks->next)
      if (banks->memory)
        f(*banks);
  }

  // Returns the module's buffer in this place, and makes it if there is none. `waveOf` returns the value for
  // DeviceCounts::wave. Null: the buffer cannot be made.
  template <class WaveOf>
  Banks *of(const Driver &driver, const typename Driver::Place &place, CountedModule &module,
            const abi::DeviceChoice &choice, WaveOf waveOf) noexcept {
    for (Banks *banks = first_; banks != nullptr; banks = banks->next)
      if (banks->memory && banks->banks.module == &module && banks->place == place)
        return banks;
    Banks *const made = place ? freeRow(first_, [](const Banks &banks) { return !banks.memory; }) : nullptr;
    return made != nullptr && made->fill(driver, place, module, choice, waveOf()) ? made : nullptr;
  }

  // Call this when the program has waited. So few counts are lost if the process is killed.
  void readSome() const noexcept {
    constexpr uint64_t kReadAgainNs = 100'000'000;
    forEach([](Banks &banks) {
      if (now() - banks.read_ns >= kReadAgainNs && banks.isIdle())
        banks.read();
    });
  }

private:
  Banks *first_; // whether this is null is read without the lock
};

} // namespace msleaks::hooks
