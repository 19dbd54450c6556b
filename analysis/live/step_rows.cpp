#include "analysis/live/step_rows.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace msleaks::analysis::inline live {

static void append(StepRows::Row &row, const StepRows::Row &next) {
  row.last = next.last;
  row.steps += next.steps;
  row.end_ns = next.end_ns;
  row.peak_bytes = std::max(row.peak_bytes, next.peak_bytes);
  row.end_bytes = next.end_bytes;
  row.launches += next.launches;
}

void StepRows::find(uint32_t process) {
  const auto found = open_.find(process);
  last_ = found == open_.end() ? nullptr : &found->second;
  last_process_ = process;
  is_found_ = true;
}

void StepRows::begin(uint32_t process, uint64_t number, uint64_t time_ns, uint64_t bytes) {
  const auto [at, is_first] = open_.try_emplace(process);
  Open &open = at->second;
  is_found_ = false;
  if (!is_first && open.row.last == number)
    return; // another thread reported the same step
  if (is_first)
    open.bytes = bytes;
  else if (open.row.steps == steps_of_row_)
    close(open, time_ns);
  Row &row = open.row;
  if (row.steps++ == 0)
    row = {process, number, number, 1, time_ns, time_ns, open.bytes, 0, 0};
  row.last = number;
  row.end_ns = time_ns;
}

void StepRows::end(uint32_t process, uint64_t time_ns) {
  const auto at = open_.find(process);
  if (at == open_.end())
    return;
  is_found_ = false;
  close(at->second, time_ns);
  open_.erase(at);
}

void StepRows::close(Open &open, uint64_t time_ns) {
  open.row.end_ns = time_ns;
  open.row.end_bytes = open.bytes;
  closed_.push_back(open.row);
  open.row.steps = 0;
  if (closed_.size() > most_rows_)
    join();
}

void StepRows::join() {
  std::vector<Row> joined;
  std::unordered_map<uint32_t, size_t> halves; // by process: the row that waits for its neighbour
  for (const Row &row : closed_)
    if (const auto half = halves.find(row.process); half != halves.end()) {
      append(joined[half->second], row);
      halves.erase(half);
    } else {
      halves.emplace(row.process, joined.size());
      joined.push_back(row);
    }
  steps_of_row_ *= 2;
  const size_t most = most_rows_ * 3 / 4;
  if (joined.size() > most) {
    std::stable_sort(joined.begin(), joined.end(),
                     [](const Row &a, const Row &b) { return a.peak_bytes > b.peak_bytes; });
    for (size_t i = most; i < joined.size(); ++i)
      left_out_ += joined[i].steps;
    joined.resize(most);
    std::stable_sort(joined.begin(), joined.end(), [](const Row &a, const Row &b) { return a.end_ns < b.end_ns; });
  }
  closed_ = std::move(joined);
}

StepRows::Rows StepRows::rows() const {
  StepRows ended = *this;
  for (const auto &[process, open] : open_)
    ended.end(process, open.row.end_ns);
  std::sort(ended.closed_.begin(), ended.closed_.end(), [](const Row &a, const Row &b) {
    return std::tie(a.begin_ns, a.process, a.first) < std::tie(b.begin_ns, b.process, b.first);
  });
  return {std::move(ended.closed_), ended.left_out_};
}

} // namespace msleaks::analysis::inline live
