// Finds the processes whose definitions a process uses besides its own. A fork's child inherits the definitions of the
// process image from which it was forked. That image may have inherited definitions, too.
#pragma once

#include "analysis/trace/trace_reader.h"
#include "msleaks/abi/definitions.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

namespace msleaks::analysis::inline places {

class Ancestry {
public:
  // Call it before the first look-up. The order of calls does not matter.
  void add(const ProcessStart &start) {
    processes_.emplace(Image(start.pid, start.time_ns), start.process);
    if (start.ancestor.pid != 0)
      parents_.insert_or_assign(start.process, Image(start.ancestor.pid, start.ancestor.attach_ns));
  }
  // Takes the body of an Inherited definition, which old traces contain. Returns false if the body is too short.
  bool add(uint32_t process, std::span<const std::byte> inherited) {
    abi::InheritedDefinition from;
    if (inherited.size() < sizeof from)
      return false;
    std::memcpy(&from, inherited.data(), sizeof from);
    parents_.insert_or_assign(process, Image(from.pid, from.attach_ns));
    return true;
  }

  // Calls f(process) for each ancestor, nearest first, until f returns true or an ancestor is unknown. Counts the
  // steps, because ancestors in a damaged trace may form a cycle.
  template <class F> void findAmong(uint32_t process, F &&f) const {
    size_t left = parents_.size();
    for (auto ancestor = parentOf(process); ancestor && left > 0 && !f(*ancestor); --left)
      ancestor = parentOf(*ancestor);
  }

private:
  using Image = std::pair<uint32_t, uint64_t>; // pid and time of attaching

  std::optional<uint32_t> parentOf(uint32_t process) const {
    const auto image = parents_.find(process);
    const auto parent = image == parents_.end() ? processes_.end() : processes_.find(image->second);
    return parent == processes_.end() ? std::nullopt : std::optional(parent->second);
  }

  std::map<Image, uint32_t> processes_;
  std::unordered_map<uint32_t, Image> parents_;
};

} // namespace msleaks::analysis::inline places
