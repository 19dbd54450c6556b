// OpenCL's driver, as PlacedBanks uses it. A buffer lies in a context, and a device's queue reads it.
#pragma once

#include "counting/placed_banks.h"
#include "opencl/calls.h"

namespace msleaks::hooks::cl {

struct OpenClDriver {
  struct Place {
    Context context;
    Device device;
    bool operator==(const Place &) const = default;
    explicit operator bool() const { return context != nullptr; }
  };
  using Stream = Queue;
  using Event = cl::Event;
  using Memory = Mem;

  static Queue makeStream(const Place &place) noexcept;
  static void dropStream(Queue queue) noexcept;
  static Mem makeMemory(const Place &place, Queue queue, void *content, uint64_t bytes) noexcept;
  static bool read(const Place &place, Queue queue, Mem memory, uint64_t offset, uint64_t bytes, void *to) noexcept;
  static void dropMemory(Mem memory) noexcept;
  static void release(Mem memory, Queue queue) noexcept {
    dropMemory(memory);
    dropStream(queue);
  }
  static bool makeEvent(Event) noexcept { return true; } // a launch makes its event itself
  static void dropEvent(Event event) noexcept;
  static bool hasEnded(Event event) noexcept;
  static void flush(Queue queue) noexcept;
};

} // namespace msleaks::hooks::cl
