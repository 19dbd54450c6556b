// Refused allocations, and whether the program got memory all the same: a program that is refused and then asks for
// less is not out of memory (docs/analyses.md).
//
// Memory grows with the places where threads were refused something.
#pragma once

#include "analysis/live/recent.h"
#include "analysis/places/site.h"
#include "msleaks/abi/events.h"

#include <compare>
#include <cstdint>
#include <map>

namespace msleaks::analysis::inline live {

// Who wants memory locked that is there has not run out of it, whatever the driver says.
constexpr bool asksForMemory(abi::Heap heap) { return heap != abi::Heap::Registered; }

class Refusals {
public:
  // The thread and place of a request, with its heap and device.
  struct Asker {
    uint32_t process = 0, stream = 0;
    SiteId site;
    abi::Heap heap = abi::Heap::Host;
    uint8_t device = 0;
    auto operator<=>(const Asker &) const = default;
  };
  struct Refusal {
    uint64_t bytes = 0;  // asked for
    uint64_t status = 0; // the API's own error number
    uint64_t time_ns = 0;
  };
  struct Sum {
    uint64_t count = 0, largest_bytes = 0; // all that was refused
    uint64_t answered = 0;                 // of them
    Refusal last;                          // that was not answered
    bool isOutOfMemory() const { return count > answered; }
  };

  void refuse(const Asker &, const Refusal &);
  // The thread was given a block.
  void give(uint32_t process, uint32_t stream, SiteId site, uint64_t time_ns) {
    if (!waiting_.empty())
      answer(process, stream, site, time_ns);
  }
  const std::map<Asker, Sum> &sums() const { return sums_; }

private:
  // The thread has asked for nothing else since.
  struct Waiting {
    Asker asker;
    uint64_t count = 0; // refused in a row
    uint64_t time_ns = 0;
    Refusal before; // what Sum::last was
  };
  void answer(uint32_t process, uint32_t stream, SiteId site, uint64_t time_ns);

  std::map<Asker, Sum> sums_;
  Recent<uint64_t, Waiting> waiting_; // by thread
};

} // namespace msleaks::analysis::inline live
