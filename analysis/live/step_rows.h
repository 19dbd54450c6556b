// The steps of all processes, each with the memory of its process: the highest in the step, and at the end of the step.
//
// Memory is bounded. If there are too many rows, joins pairs of neighbouring rows of a process. If there are still too
// many, because there are so many processes, removes the rows with the lowest peaks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline live {

class StepRows {
public:
  explicit StepRows(size_t most_rows = 2000) : most_rows_(most_rows) {}

  // One step, or several consecutive steps.
  struct Row {
    uint32_t process = 0;
    uint64_t first = 0, last = 0; // numbers of steps, as the program counts them
    uint64_t steps = 0;
    uint64_t begin_ns = 0, end_ns = 0; // CLOCK_MONOTONIC
    uint64_t peak_bytes = 0, end_bytes = 0;
    uint64_t launches = 0;
    bool operator==(const Row &) const = default;
  };

  // Whether the process has steps. The functions below need to be called only for such a process.
  bool has(uint32_t process) {
    if (open_.empty())
      return false;
    if (!is_found_ || last_process_ != process)
      find(process);
    return last_ != nullptr;
  }
  // A step begins, and the step before it ends. `bytes` is the present memory of the process, used at its first step.
  void begin(uint32_t process, uint64_t number, uint64_t time_ns, uint64_t bytes);
  // Call it only for the process of the last has().
  void rise(uint64_t bytes, uint64_t time_ns) {
    last_->bytes += bytes;
    last_->row.end_ns = time_ns;
    if (last_->bytes > last_->row.peak_bytes)
      last_->row.peak_bytes = last_->bytes;
  }
  void fall(uint64_t bytes, uint64_t time_ns) {
    last_->bytes -= bytes;
    last_->row.end_ns = time_ns;
  }
  void launch(uint64_t time_ns) {
    ++last_->row.launches;
    last_->row.end_ns = time_ns;
  }
  // The process ends, and so does its last step.
  void end(uint32_t process, uint64_t time_ns);

  struct Rows {
    std::vector<Row> list;       // ascending by begin
    uint64_t left_out_steps = 0; // number of steps that are in no row
  };
  // If a process has not ended, its last step ends with its last event.
  Rows rows() const;

private:
  struct Open {
    Row row;
    uint64_t bytes = 0; // present memory of the process
  };
  void find(uint32_t process);
  void close(Open &, uint64_t time_ns);
  void join();

  size_t most_rows_;
  uint64_t steps_of_row_ = 1;
  std::vector<Row> closed_;
  uint64_t left_out_ = 0;
  std::unordered_map<uint32_t, Open> open_; // by process; elements do not move
  // The process of the last has(); null: it has no steps.
  Open *last_ = nullptr;
  uint32_t last_process_ = 0;
  bool is_found_ = false;
};

} // namespace msleaks::analysis::inline live
