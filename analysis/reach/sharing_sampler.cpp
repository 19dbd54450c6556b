#include "analysis/reach/sharing_sampler.h"

#include "analysis/base/files.h"
#include "analysis/base/machine.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <system_error>

namespace msleaks::analysis::inline reach {
namespace {

// A line is "Private_Dirty:   112 kB".
std::optional<uint64_t> bytesOfLine(std::string_view rollup, std::string_view name) {
  const size_t at = rollup.find(name);
  if (at == std::string_view::npos)
    return std::nullopt;
  rollup.remove_prefix(at + name.size());
  rollup.remove_prefix(std::min(rollup.size(), rollup.find_first_not_of(' ')));
  uint64_t kib = 0;
  const auto [end, error] = std::from_chars(rollup.data(), rollup.data() + rollup.size(), kib);
  const bool is_plausible = error == std::errc() && kib < uint64_t{1} << 50;
  return is_plausible ? std::optional(kib << 10) : std::nullopt;
}

} // namespace

std::optional<Sharing> parseSharing(std::string_view rollup) {
  uint64_t sums[3] = {};
  constexpr std::pair<std::string_view, int> kLines[] = {
      {"\nPss:", 0}, {"\nPrivate_Clean:", 1}, {"\nPrivate_Dirty:", 1}, {"\nShared_Clean:", 2}, {"\nShared_Dirty:", 2},
  };
  for (const auto &[name, sum] : kLines) {
    const auto bytes = bytesOfLine(rollup, name);
    if (!bytes)
      return std::nullopt;
    sums[sum] += *bytes;
  }
  return Sharing{sums[0], sums[1], sums[2]};
}

std::string SharingSampler::readRollup(uint32_t pid) { return readText(fmt::format("/proc/{}/smaps_rollup", pid)); }

void SharingSampler::visit(uint64_t now_ns) {
  if (reading_)
    take(now_ns);
  if (!reading_ && now_ns >= next_ns_ && !processes_.empty() && samples_.size() < TraceWriter::kMaxResidentAtOnce)
    begin(now_ns);
}

void SharingSampler::begin(uint64_t now_ns) {
  const auto due = std::ranges::min_element(processes_, {}, [](const auto &known) { return known.second.next_ns; });
  auto &[process, watched] = *due;
  if (now_ns < watched.next_ns)
    return;
  watched.next_ns = now_ns + watched.pause_ns;
  watched.pause_ns = std::min(2 * watched.pause_ns, kLongestPauseNs);
  const auto read = [read = read_, pid = watched.pid] {
    const uint64_t cpu_ns = readClockNs(CLOCK_THREAD_CPUTIME_ID);
    std::string text = read(pid);
    return std::pair(std::move(text), readClockNs(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
  };
  try {
    reading_.emplace(Reading{process, now_ns, std::async(thread_, read)});
  } catch (const std::system_error &) {
    // The system allows no more threads: there is no sample.
  }
}

void SharingSampler::take(uint64_t now_ns) {
  if (reading_->text.wait_for(std::chrono::seconds(0)) == std::future_status::timeout)
    return;
  const auto [text, cost_ns] = reading_->text.get();
  next_ns_ = now_ns + cost_ns * kPauseOfCost;
  const auto watched = processes_.find(reading_->process);
  const auto sharing = parseSharing(text);
  if (sharing && sharing->pss_bytes != 0 && watched != processes_.end() && *sharing != watched->second.last) {
    watched->second.last = *sharing;
    samples_.push_back(
        {reading_->process, reading_->time_ns, sharing->pss_bytes, sharing->private_bytes, sharing->shared_bytes});
  }
  reading_.reset();
}

Result<void> SharingSampler::store(TraceWriter &writer, uint64_t now_ns, bool all) {
  if (samples_.empty() || (!all && now_ns < next_store_ns_))
    return {};
  next_store_ns_ = now_ns + kStoreNs;
  MSL_TRY(writer.sharing(samples_));
  samples_.clear();
  return {};
}

} // namespace msleaks::analysis::inline reach
