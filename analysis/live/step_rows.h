// The steps of all processes, each with the memory of its process: at its highest, and at the end of the step.
//
// Memory is bounded: where there are too many rows, neighbours of a process become one. Where there are still too many,
// since there are so many processes, those with the lowest peaks go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline live {

class StepRows {
public:
  explicit StepRows(size_t most_rows = 2000) : most_rows_(most_rows) {}

  // One step, or several that follow each other.
  struct Row {
    uint32_t process = 0;
    uint64_t first = 0, last = 0; // numbers, as the program counts
    uint64_t steps = 0;
    uint64_t begin_ns = 0, end_ns = 0; // CLOCK_MONOTONIC
    uint64_t peak_bytes = 0, end_bytes = 0;
    uint64_t launches = 0;
    bool operator==(const Row &) const = default;
  };

  // Whether the process goes through steps: only of such a process anything must be told.
  bool has(uint32_t process) {
    if (open_.empty())
      return false;
    if (!is_found_ || last_process_ != process)
      find(process);
    return last_ != nullptr;
  }
  // A step begins, and the one before it ends. `bytes`: what the process has now; known from then on.
  void begin(uint32_t process, uint64_t number, uint64_t time_ns, uint64_t bytes);
  // Of the process that has() was asked for.
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
  // The process ends, and its last step with it.
  void end(uint32_t process, uint64_t time_ns);

  struct Rows {
    std::vector<Row> list;       // ascending by begin
    uint64_t left_out_steps = 0; // that are in no row
  };
  // The last step of a process that has not ended goes until what was told of it last.
  Rows rows() const;

private:
  struct Open {
    Row row;
    uint64_t bytes = 0; // of the process, now
  };
  void find(uint32_t process);
  void close(Open &, uint64_t time_ns);
  void join();

  size_t most_rows_;
  uint64_t steps_of_row_ = 1;
  std::vector<Row> closed_;
  uint64_t left_out_ = 0;
  std::unordered_map<uint32_t, Open> open_; // by process; elements stay where they are
  // Of the process that was asked for last; null: it has no steps.
  Open *last_ = nullptr;
  uint32_t last_process_ = 0;
  bool is_found_ = false;
};

} // namespace msleaks::analysis::inline live
