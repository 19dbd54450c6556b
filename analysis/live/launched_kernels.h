// Tells which kernels were launched, if the trace contains their names (Kernel events).
#pragma once

#include "analysis/live/recent.h"
#include "analysis/places/labels.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/trace_reader.h"
#include "msleaks/abi/events.h"
#include "msleaks/abi/session.h"

#include <cstdint>
#include <unordered_map>

namespace msleaks::analysis::inline live {

// Its memory grows with the number of kernels, and not with threads that have ended.
class LaunchedKernels {
public:
  static constexpr uint32_t kEvents = abi::enabledBit(abi::EventKind::Kernel) | abi::enabledBit(abi::EventKind::Launch);

  // Takes events in the order of time. Ignores other kinds of events.
  void onEvent(const StreamEvent &event, const Labels &labels) {
    if (event.event.header().kind == abi::EventKind::Kernel) {
      const auto kernel = event.event.as<abi::KernelEvent>();
      processes_[event.process][kernel.kernel] = labels.find(event.process, kernel.name);
    } else if (event.event.header().kind == abi::EventKind::Launch) {
      last_[keyOfThread(event.process, event.stream)] =
          nameOf(event.process, event.event.as<abi::LaunchEvent>().kernel);
    }
  }
  // The kernel's name for later launches. Not known if no event has told the name.
  LabelId nameOf(uint32_t process, uint64_t kernel) const {
    const auto kernels = processes_.find(process);
    if (kernels == processes_.end())
      return {};
    const auto found = kernels->second.find(kernel);
    return found != kernels->second.end() ? found->second : LabelId{};
  }
  // The name of the kernel that the thread has launched last.
  LabelId lastOf(uint32_t process, uint32_t stream) const {
    const LabelId *found = last_.find(keyOfThread(process, stream));
    return found ? *found : LabelId{};
  }

private:
  std::unordered_map<uint32_t, std::unordered_map<uint64_t, LabelId>> processes_; // by handle
  Recent<uint64_t, LabelId> last_;                                                // by thread
};

} // namespace msleaks::analysis::inline live
