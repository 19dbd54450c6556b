#include "analysis/collect/resident_sampler.h"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace msleaks::analysis {

std::optional<ResidentSampler::Pages> ResidentSampler::lookAt(uint32_t pid) {
  const int fd = open(fmt::format("/proc/{}/statm", pid).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return std::nullopt;
  char text[128];
  const ssize_t count = read(fd, text, sizeof text - 1);
  close(fd);
  text[std::max<ssize_t>(count, 0)] = 0;
  unsigned long long size = 0, resident = 0, shared = 0; // pages
  if (std::sscanf(text, "%llu %llu %llu", &size, &resident, &shared) != 3 || resident == 0)
    return std::nullopt; // it has ended
  static const uint64_t page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return Pages{resident * page_bytes, shared * page_bytes};
}

bool ResidentSampler::isDue(uint32_t process, uint64_t now_ns) const {
  const auto visited = processes_.find(process);
  return visited == processes_.end() || now_ns >= visited->second.next_ns;
}

void ResidentSampler::visit(uint32_t process, uint32_t pid, uint64_t now_ns) {
  Visited &visited = processes_[process];
  visited.next_ns = now_ns + std::max(visited.pause_ns, kPauseOfOneNs * processes_.size());
  visited.pause_ns = std::min(2 * visited.pause_ns, kLongestPauseNs);
  const auto pages = pid == 0 ? std::nullopt : look_(pid);
  if (!pages || *pages == visited.last || samples_.size() == TraceWriter::kMaxResidentAtOnce)
    return;
  visited.last = *pages;
  samples_.push_back({process, now_ns, pages->resident_bytes, pages->file_bytes});
}

Result<void> ResidentSampler::store(TraceWriter &writer, uint64_t now_ns, bool all) {
  if (samples_.empty() || (!all && now_ns < next_store_ns_ && samples_.size() < TraceWriter::kMaxResidentAtOnce))
    return {};
  next_store_ns_ = now_ns + kStoreNs;
  MSL_TRY(writer.resident(samples_));
  samples_.clear();
  return {};
}

} // namespace msleaks::analysis
