// The rows of msMemScope's dumps (docs/formats.md). The formats csv and db write the same rows, each to files of its
// own.
#pragma once

#include "analysis/exporters/exporter.h"
#include "analysis/exporters/trace_names.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline exporters {

inline constexpr std::array<std::string_view, 12> kDumpColumns = {
    "ID",        "Event",     "Event Type", "Name", "Timestamp(ns)",      "Process Id",
    "Thread Id", "Device Id", "Ptr",        "Attr", "Call Stack(Python)", "Call Stack(C)"};

struct DumpedRow {
  uint64_t id = 0; // from 1 in each process
  std::string_view event, type;
  std::string name = "N/A";
  uint64_t time_ns = 0; // since 1970, if the trace tells that time
  uint32_t pid = 0, tid = 0;
  std::string_view device = "N/A", pointer = "N/A";
  std::string_view attributes;            // a JSON object, whose values are texts
  std::string_view python_stack, c_stack; // a line for each call, the innermost first
};

// The file of one device in one process.
class DumpFile {
public:
  virtual ~DumpFile() = default;
  virtual void add(const DumpedRow &) = 0;
  virtual void finish() {}
};

// The memory grows with blocks that are alive at the same time, with paths, and with devices of processes.
class MsmemscopeExporter : public BlockExporter {
public:
  uint32_t eventKinds() const final;
  void begin(ReadRun &) final;
  void onAlloc(ReadRun &, const Block &, BlockNumber, AllocCause, uint64_t time_ns) final;
  void onFree(ReadRun &, const Block &, BlockNumber, FreeCause, uint64_t time_ns) final;
  void onUse(ReadRun &, const Block &, BlockNumber, const Use &) final;
  void onEvent(ReadRun &, const StreamEvent &, SiteId) final;
  void end(ReadRun &) final;

protected:
  // Makes a file of the folder. `name` has no extension.
  virtual std::unique_ptr<DumpFile> make(OutputFolder &, const std::string &name) = 0;

private:
  // Sums of the blocks that are alive in a process and on a device.
  struct Alive {
    uint64_t host = 0, pinned = 0, device = 0, pool = 0;
  };
  struct Device {
    std::string name;
    std::unique_ptr<DumpFile> file;
    Alive alive;
  };
  static constexpr size_t kHost = 256; // the number of the host among devices
  struct Process {
    std::string folder;
    uint32_t pid = 0;
    uint64_t last_id = 0, last_task = 0;
    std::array<std::unique_ptr<Device>, kHost + 1> devices = {}; // null: no such file
    std::vector<std::optional<uint32_t>> tids = {};              // by stream
  };
  struct Stacks {
    std::string python, c;
  };

  static size_t numberOf(abi::Heap, uint8_t device);
  Device &deviceOf(Process &, size_t number);
  Device &deviceOf(const Block &block) {
    return deviceOf(processes_[block.process], numberOf(block.heap, block.device));
  }
  uint32_t tidOf(uint32_t process, uint32_t stream);
  DumpedRow rowAt(uint32_t process, uint32_t stream, uint64_t time_ns);
  DumpedRow rowOf(const Block &, const Device &, std::string_view event, uint64_t time_ns);
  void addEvent(ReadRun &, const StreamEvent &, SiteId);
  // Adds a row without a device, which is in each file of the process.
  void addToAll(Process &, const DumpedRow &);
  const Stacks &stacksOf(SiteCatalog &, SiteId);

  std::unique_ptr<TraceNames> names_;
  std::map<uint32_t, Process> processes_;
  std::string pointer_, attributes_;            // of the present row
  std::unordered_map<uint32_t, Stacks> stacks_; // by SiteId
  int64_t since_1970_ns_ = 0;                   // to add to the trace's clock
  uint64_t last_ns_ = 0;
};

} // namespace msleaks::analysis::inline exporters
