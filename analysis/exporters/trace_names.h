// Returns names for the numbers in an event: of the process, the thread, labels and flags.
#pragma once

#include "analysis/places/labels.h"
#include "analysis/trace/trace_reader.h"
#include "msleaks/abi/events.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace msleaks::analysis::inline exporters {

// Returns the text as a JSON string.
std::string quoted(std::string_view text);

// The meaning of the numbers of processes, streams and labels, as far as the trace contains it.
class TraceNames {
public:
  // The labels must live longer than this object.
  TraceNames(const TraceReader &, const Labels &);

  std::optional<uint32_t> pid(uint32_t process) const;
  std::optional<uint32_t> tid(uint32_t process, uint32_t stream) const;
  // A label as a JSON string, or null.
  std::string quotedLabel(uint32_t process, uint64_t number) const;
  // Returns when the first process attached. Without a process, returns 0.
  uint64_t startNs() const { return pids_.empty() ? 0 : start_ns_; }

private:
  const Labels &labels_;
  std::map<uint32_t, uint32_t> pids_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> tids_;
  uint64_t start_ns_ = UINT64_MAX;
};

// Calls f with the name of each flag that the event has, in the order of event_flags.def.
template <class F> void forEachFlag(const abi::EventHeader &header, F &&f) {
#define MSL_EVENT_FLAG(name, bit, text, doc)                                                                           \
  if (header.flags & (1u << (bit)))                                                                                    \
    f(std::string_view(text));
#include "msleaks/abi/event_flags.def"
}

// Whether a field contains data. Some fields are reserved for later (events.def).
inline bool holdsAnything(std::string_view field) { return field != "reserved"; }

} // namespace msleaks::analysis::inline exporters
