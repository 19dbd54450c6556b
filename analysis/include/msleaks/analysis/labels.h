// What the labels of events mean: texts that a process defined once and then only counted (abi/definitions.h).
#pragma once

#include "msleaks/analysis/result.h"
#include "msleaks/analysis/trace_reader.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace msleaks::analysis {

class Labels {
public:
  Result<void> load(const TraceReader &);
  // Whole records of a process' definitions; other kinds than strings are passed over.
  void addDefinitions(uint32_t process, std::span<const std::byte> records);
  // The text of label `number` in a process; nothing for a number that nobody defined.
  std::optional<std::string_view> find(uint32_t process, uint64_t number) const;

private:
  std::map<std::pair<uint32_t, uint64_t>, std::string> texts_;
};

} // namespace msleaks::analysis
