// Writes what a foreign file tells as a run of msleaks.
#pragma once

#include "analysis/base/run_folder.h"
#include "analysis/importers/foreign_paths.h"
#include "analysis/trace/trace_reader.h"
#include "analysis/trace/trace_writer.h"
#include "msleaks/abi/events.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace msleaks::analysis::inline importers {

// The facts that the file tells about itself.
struct ForeignFacts {
  std::string source;               // the tool and its version: `session.source` of a report
  std::string kind;                 // "a memory snapshot of PyTorch"
  std::string loss;                 // sentences of a note about things that the file does not tell
  std::vector<std::string> command; // empty = not known: then the file's name stands for it
  std::vector<std::string> notes;   // further notes of the report
  uint64_t start_realtime_ns = 0;
};

class ForeignRun {
public:
  struct Stream {
    uint32_t number = 0;
    std::vector<abi::Slot> slots; // not yet in the trace
    uint64_t position = 0, events = 0;
  };
  struct Process {
    Process(uint32_t new_number, uint32_t new_pid) : number(new_number), pid(new_pid), paths(new_number) {}
    uint32_t number, pid;
    ForeignPaths paths;
    EndReason end = EndReason::Ended;
    int32_t status = 0;
    uint64_t first_ns = 0, last_ns = 0;
    std::map<uint32_t, Stream> streams; // by tid
  };

  // `file` names the foreign file.
  static Result<ForeignRun> create(const RunFolder &, std::string file);

  ForeignFacts facts; // complete before the first event, except the notes
  bool empty() const { return processes_.empty(); }
  // Returns the process. The reference stays valid.
  Process &process(uint32_t pid);
  // Adds an event of a thread. The events of a thread are in the order of time.
  void add(Process &, uint32_t tid, abi::AnyEvent);
  template <class Event> void add(Process &process, uint32_t tid, uint64_t time_ns, Event event, uint32_t site = 0) {
    event.header.kind = Event::kKind;
    event.header.time = time_ns;
    event.header.site = site;
    add(process, tid, abi::AnyEvent::from(event));
  }
  // The file ends early. So the ends of its processes are not known, and what is alive is no leak.
  void markCut();
  Result<void> finish();

private:
  ForeignRun(const RunFolder &folder, std::string file, TraceWriter writer)
      : folder_(&folder), file_(std::move(file)), writer_(std::move(writer)) {}
  std::vector<std::string> command() const { return facts.command.empty() ? std::vector{file_} : facts.command; }
  void flush(const Process &, Stream &);
  Result<void> end(Process &);

  const RunFolder *folder_;
  std::string file_;
  TraceWriter writer_;
  Result<void> written_;                                   // the first error
  std::map<uint32_t, std::unique_ptr<Process>> processes_; // by pid
  bool is_cut_ = false;
};

} // namespace msleaks::analysis::inline importers
