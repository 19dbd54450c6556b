#include "analysis/result/resident.h"

#include <algorithm>
#include <iterator>

namespace msleaks::analysis::inline result {
namespace {

constexpr uint64_t kNearNs = 1'000'000'000;

} // namespace

std::optional<ResidentSample> ResidentHistory::near(uint32_t process, uint64_t time_ns) const {
  const auto of = by_process_.find(process);
  const auto end = ends_.find(process);
  if (of == by_process_.end() || (end != ends_.end() && end->second < time_ns))
    return std::nullopt;
  const std::vector<ResidentSample> &samples = of->second;
  const auto next = std::lower_bound(samples.begin(), samples.end(), time_ns,
                                     [](const ResidentSample &sample, uint64_t time) { return sample.time_ns < time; });
  const bool is_next_near = next != samples.end() && next->time_ns - time_ns <= kNearNs;
  if (next == samples.begin())
    return is_next_near ? std::optional(*next) : std::nullopt;
  const auto last = std::prev(next);
  return is_next_near && next->time_ns - time_ns < time_ns - last->time_ns ? *next : *last;
}

std::optional<ResidentSample> ResidentHistory::highest(uint32_t process) const {
  const auto of = by_process_.find(process);
  if (of == by_process_.end())
    return std::nullopt;
  return *std::max_element(of->second.begin(), of->second.end(), [](const ResidentSample &a, const ResidentSample &b) {
    return a.resident_bytes < b.resident_bytes;
  });
}

} // namespace msleaks::analysis::inline result
