// Converts the rows of a foreign dump to events, and writes them as a run of msleaks.
#pragma once

#include "analysis/base/run_folder.h"
#include "analysis/importers/foreign_paths.h"
#include "analysis/importers/foreign_rows.h"
#include "analysis/trace/trace_reader.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace msleaks::analysis::inline importers {

class ForeignEvents {
public:
  void add(const ForeignRow &);
  bool empty() const { return events_.empty(); }
  // `source` names the dump in a note of the report.
  Result<void> write(const RunFolder &, const std::string &source);

private:
  struct Process {
    uint32_t number = 0, pid = 0;
    uint64_t first_ns = UINT64_MAX, last_ns = 0, steps = 0;
    std::map<uint32_t, uint32_t> streams;    // by tid
    std::map<std::string, uint64_t> kernels; // by name
    std::set<uint64_t> rows_without_device;  // a dump repeats them for each device
    ForeignPaths paths;
  };

  void addMemory(Process &, uint32_t stream, const ForeignRow &);
  void addOther(Process &, uint32_t stream, const ForeignRow &);
  template <class Event> void push(const Process &, uint32_t stream, const ForeignRow &, Event, uint32_t site = 0);
  Result<void> writeStreams(TraceWriter &, const Process &) const;

  std::map<uint32_t, Process> processes_; // by pid
  std::vector<StreamEvent> events_;
};

} // namespace msleaks::analysis::inline importers
