// The open handles (abi/handles.def), from events. Its memory grows with the number of open handles.
#pragma once

#include "analysis/places/site.h"
#include "analysis/trace/trace_reader.h"
#include "msleaks/abi/handles.h"

#include <compare>
#include <cstdint>
#include <map>
#include <unordered_map>

namespace msleaks::analysis::inline live {

class OpenHandles {
public:
  struct Handle {
    abi::HandleKind kind = abi::HandleKind::None;
    uint64_t number = 0; // as the API returned it
    auto operator<=>(const Handle &) const = default;
  };
  struct Open {
    SiteId site;
    uint64_t time_ns = 0;
    uint64_t owners = 1;
    uint8_t device = 0; // of a handle of CUDA, HIP or ACL
    uint32_t step = 0;  // number of steps that its process had begun when it was opened
  };
  using OfProcess = std::map<Handle, Open>;

  // Takes an event Opened, Closed or Step.
  void apply(const StreamEvent &, SiteId);
  // Forgets the handles of a device that was reset.
  void endDevice(uint32_t process, uint8_t device);
  // Returns the handles that the process leaves open at its end. Call stepsOf() before.
  OfProcess endProcess(uint32_t process);
  uint32_t stepsOf(uint32_t process) const;
  // Null if the handle is not open.
  const Open *find(uint32_t process, const Handle &) const;
  // From now on, closes are not recorded, so forgets all open handles.
  void forgetAll();

  template <class F> void forEachProcess(F &&f) const {
    for (const auto &[number, process] : processes_)
      f(number, process.open);
  }

private:
  struct Taken {
    Handle handle;
    Open open;
  };
  // A close of a handle that was not open.
  struct Early {
    uint64_t time_ns;
    uint32_t stream;
  };
  struct Process {
    OfProcess open;
    std::map<uint32_t, Taken> taken; // the handle that each thread closed last: the close may be refused
    std::map<Handle, Early> early;
    uint32_t steps = 0; // steps that have begun
  };

  static void make(Process &, const Handle &, const StreamEvent &, SiteId);
  static void restore(Process &, const Handle &, const StreamEvent &);
  static void close(Process &, const Handle &, const StreamEvent &);
  static void noteEarly(Process &, const Handle &, const StreamEvent &);

  std::unordered_map<uint32_t, Process> processes_;
};

} // namespace msleaks::analysis::inline live
