// Resident: the resident memory of each process, as the kernel reports it, in addition to the allocated memory.
#include "analysis/analyzers/registry.h"

#include <algorithm>

namespace msleaks::analysis::inline analyzers {
namespace {

// Must run after the analyzer of the peak, because it adds to the peak's result.
class ResidentAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "resident"; }
  void conclude(Conclusion &) const override;
};

// The sum over the processes that ran at this time.
std::optional<uint64_t> residentAt(uint64_t time_ns, const Conclusion &conclusion) {
  std::optional<uint64_t> bytes;
  for (const ProcessPeak &process : conclusion.result.peak.by_process)
    if (const auto sample = conclusion.resident.near(process.process, time_ns))
      bytes = bytes.value_or(0) + sample->resident_bytes;
  return bytes;
}

Section byProcess(const Conclusion &conclusion) {
  Section section{.name = "resident",
                  .title = "Resident memory beside the peak of each process",
                  .columns = {{"process", Unit::Text, Fold::Key},
                              {"bytes", Unit::Bytes},
                              {"resident", Unit::Bytes},
                              {"highest", Unit::Bytes}},
                  .rows = {},
                  .compares = true};
  for (const ProcessPeak &process : conclusion.result.peak.by_process)
    if (process.highest_resident_bytes)
      section.rows.push_back({conclusion.names.process(process.process), process.bytes,
                              process.resident_bytes ? Cell(*process.resident_bytes) : Cell(),
                              *process.highest_resident_bytes});
  std::stable_sort(section.rows.begin(), section.rows.end(),
                   [](const auto &a, const auto &b) { return std::get<uint64_t>(a[1]) > std::get<uint64_t>(b[1]); });
  return section;
}

void ResidentAnalyzer::conclude(Conclusion &conclusion) const {
  PeakReport &peak = conclusion.result.peak;
  peak.resident_bytes = residentAt(peak.time_ns, conclusion);
  for (ProcessPeak &process : peak.by_process) {
    if (const auto sample = conclusion.resident.near(process.process, process.time_ns))
      process.resident_bytes = sample->resident_bytes;
    if (const auto sample = conclusion.resident.highest(process.process))
      process.highest_resident_bytes = sample->resident_bytes;
  }
  if (Section section = byProcess(conclusion); !section.rows.empty())
    conclusion.result.sections.push_back(std::move(section));
}

} // namespace

MSL_REGISTER_ANALYZER(resident, ResidentAnalyzer)

} // namespace msleaks::analysis::inline analyzers
