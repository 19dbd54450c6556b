// Refused allocations, and whether the program then got memory. A program that asks for less after a refusal is not out
// of memory (docs/analyses.md).
//
// Its memory grows with the number of places where threads were refused an allocation.
#pragma once

#include "analysis/live/recent.h"
#include "analysis/places/site.h"
#include "msleaks/abi/events.h"

#include <compare>
#include <cstdint>
#include <map>

namespace msleaks::analysis::inline live {

// Registering only locks memory that exists. So its refusal is no lack of memory, whatever the driver says.
constexpr bool asksForMemory(abi::Heap heap) { return heap != abi::Heap::Registered && heap != abi::Heap::Imported; }

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
    uint64_t bytes = 0;  // that were asked for
    uint64_t status = 0; // the error number of the API
    uint64_t time_ns = 0;
  };
  struct Sum {
    uint64_t count = 0, largest_bytes = 0; // of all refusals
    uint64_t answered = 0;                 // refusals after which the thread got memory
    Refusal last;                          // the last refusal without an answer
    bool isOutOfMemory() const { return count > answered; }
  };

  void refuse(const Asker &, const Refusal &);
  // The thread got a block.
  void give(uint32_t process, uint32_t stream, SiteId site, uint64_t time_ns) {
    if (!waiting_.empty())
      answer(process, stream, site, time_ns);
  }
  const std::map<Asker, Sum> &sums() const { return sums_; }

private:
  // The latest refusals of a thread, at one place. The thread has not allocated since.
  struct Waiting {
    Asker asker;
    uint64_t count = 0; // consecutive refusals
    uint64_t time_ns = 0;
    Refusal before; // earlier value of Sum::last
  };
  void answer(uint32_t process, uint32_t stream, SiteId site, uint64_t time_ns);

  std::map<Asker, Sum> sums_;
  Recent<uint64_t, Waiting> waiting_; // by thread
};

} // namespace msleaks::analysis::inline live
