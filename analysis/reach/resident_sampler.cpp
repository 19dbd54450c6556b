#include "analysis/reach/resident_sampler.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>

namespace msleaks::analysis::inline reach {

namespace {

// Returns the bytes in a line of /proc/PID/status; 0: there is no such line.
uint64_t bytesAt(std::string_view status, std::string_view name) {
  const size_t at = status.find(name);
  return at == std::string_view::npos ? 0 : std::strtoull(status.data() + at + name.size(), nullptr, 10) << 10;
}

} // namespace

std::optional<ResidentSampler::Pages> ResidentSampler::lookAt(uint32_t pid) {
  const int fd = open(fmt::format("/proc/{}/status", pid).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return std::nullopt;
  char text[4096]; // the text has 1.5 KiB, and the list of processors
  const ssize_t count = read(fd, text, sizeof text - 1);
  close(fd);
  text[std::max<ssize_t>(count, 0)] = 0;
  const std::string_view status(text, static_cast<size_t>(std::max<ssize_t>(count, 0)));
  const uint64_t resident = bytesAt(status, "\nVmRSS:"), shared = bytesAt(status, "\nRssShmem:");
  if (resident == 0)
    return std::nullopt; // the process has ended
  return Pages{resident, bytesAt(status, "\nRssFile:") + shared, shared};
}

bool ResidentSampler::isDue(uint32_t process, uint64_t now_ns) const {
  const auto visited = processes_.find(process);
  return visited == processes_.end() || now_ns >= visited->second.next_ns;
}

void ResidentSampler::visit(uint32_t process, uint32_t pid, uint64_t recorder_bytes, uint64_t now_ns) {
  Visited &visited = processes_[process];
  visited.next_ns = now_ns + std::max(visited.pause_ns, kPauseOfOneNs * processes_.size());
  visited.pause_ns = std::min(2 * visited.pause_ns, kLongestPauseNs);
  const auto pages = pid == 0 ? std::nullopt : look_(pid);
  if (!pages || *pages == visited.last || samples_.size() == TraceWriter::kMaxResidentAtOnce)
    return;
  visited.last = *pages;
  samples_.push_back({process, now_ns, pages->resident_bytes, pages->file_bytes, pages->shared_bytes, recorder_bytes});
}

Result<void> ResidentSampler::store(TraceWriter &writer, uint64_t now_ns, bool all) {
  if (samples_.empty() || (!all && now_ns < next_store_ns_ && samples_.size() < TraceWriter::kMaxResidentAtOnce))
    return {};
  next_store_ns_ = now_ns + kStoreNs;
  MSL_TRY(writer.resident(samples_));
  samples_.clear();
  return {};
}

} // namespace msleaks::analysis::inline reach
