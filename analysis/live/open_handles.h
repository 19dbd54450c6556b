// The handles that are open (abi/handles.def): events go in. Memory grows with what is open.
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
    uint64_t number = 0; // as the API gave it out
    auto operator<=>(const Handle &) const = default;
  };
  struct Open {
    SiteId site;
    uint64_t time_ns = 0;
    uint64_t owners = 1;
    uint32_t step = 0; // of its process, in which it was opened: how many had begun
  };
  using OfProcess = std::map<Handle, Open>;

  // An Opened, a Closed or a Step.
  void apply(const StreamEvent &, SiteId);
  // What the process has open, which it ends with. Ask for its steps before.
  OfProcess endProcess(uint32_t process);
  uint32_t stepsOf(uint32_t process) const;
  // Null: it is not open.
  const Open *find(uint32_t process, const Handle &) const;
  // From here on it is not seen what is closed.
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
  // A handle that nobody had opened.
  struct Early {
    uint64_t time_ns;
    uint32_t stream;
  };
  struct Process {
    OfProcess open;
    std::map<uint32_t, Taken> taken; // what each thread closed last: its close may be refused
    std::map<Handle, Early> early;
    uint32_t steps = 0; // that have begun
  };

  static void make(Process &, const Handle &, const StreamEvent &, SiteId);
  static void restore(Process &, const Handle &, const StreamEvent &);
  static void close(Process &, const Handle &, const StreamEvent &);
  static void noteEarly(Process &, const Handle &, const StreamEvent &);

  std::unordered_map<uint32_t, Process> processes_;
};

} // namespace msleaks::analysis::inline live
