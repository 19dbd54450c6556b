// Converts the rows of a foreign dump to events, and writes them as a run of msleaks.
#pragma once

#include "analysis/base/run_folder.h"
#include "analysis/importers/foreign_paths.h"
#include "analysis/importers/foreign_rows.h"
#include "msleaks/abi/events.h"

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
  // Moves all events into the run. `source` names the dump in a note of the report.
  Result<void> write(const RunFolder &, const std::string &source);

private:
  struct Process {
    explicit Process(uint32_t number) : paths(number) {}
    uint64_t steps = 0;
    std::map<std::string, uint64_t> kernels; // by name
    std::set<uint64_t> rows_without_device;  // a dump repeats them for each device
    ForeignPaths paths;
  };
  struct Row {
    uint32_t pid, tid;
    abi::AnyEvent event;
  };

  void addMemory(Process &, const ForeignRow &);
  void addOther(Process &, const ForeignRow &);
  template <class Event> void push(const ForeignRow &, Event, uint32_t site = 0);

  std::map<uint32_t, Process> processes_; // by pid
  std::vector<uint32_t> pids_;            // in the order of their first rows
  std::vector<Row> events_;
};

} // namespace msleaks::analysis::inline importers
