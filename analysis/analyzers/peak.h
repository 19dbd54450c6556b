// Peak: the highest point of the memory in use, and the blocks that were alive then (docs/report.md).
#pragma once

#include "analysis/base/tables.h"
#include "analysis/live/peaks.h"
#include "analysis/result/section.h"
#include "analysis/stream/analyzer.h"

#include <string_view>
#include <vector>

namespace msleaks::analysis::inline analyzers {

class PeakAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "peak"; }
  bool usePeaks(const Peaks &peaks) override {
    peaks_ = &peaks;
    return true;
  }
  void onAlloc(const Block &, AllocCause, uint64_t time_ns) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void onPart(const Block &part, const Block &whole, uint64_t time_ns) override;
  void conclude(Conclusion &) const override;

private:
  static ByteNs byteNs(const Block &, uint64_t until_ns);
  static Section placesByProcess(const std::vector<CohortShare> &at_peak, Conclusion &);
  void findStandingOut(const PeakTracker &, const Account &, Conclusion &) const;

  const Peaks *peaks_ = nullptr;
  std::vector<ByteNs> byte_ns_;       // by cohort: bytes times lifetime of its blocks
  std::vector<uint8_t> has_segments_; // by cohort: whether pools hand out parts of its blocks
};

} // namespace msleaks::analysis::inline analyzers
