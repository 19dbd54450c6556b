// An analyzer of somebody's own as one of ours. When it fails it is told nothing more, and nothing of it comes into the
// result.
#pragma once

#include "analysis/foreign/analyzer_library.h"
#include "analysis/stream/analyzer.h"

#include <optional>
#include <string>
#include <string_view>

namespace msleaks::analysis {

class ForeignAnalyzer final : public Analyzer {
public:
  explicit ForeignAnalyzer(const AnalyzerLibrary &);
  ~ForeignAnalyzer() override;
  ForeignAnalyzer(const ForeignAnalyzer &) = delete;
  ForeignAnalyzer &operator=(const ForeignAnalyzer &) = delete;

  std::string_view name() const override { return plugin_.name; }
  uint32_t eventKinds() const override { return event_kinds_; }
  void onAlloc(const Block &, AllocCause, uint64_t time_ns) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void onRetarget(const Block &, const Block &before, uint64_t time_ns) override;
  void onEvent(const StreamEvent &, SiteId) override;
  void onProcessEnd(uint32_t process, const ProcessFate &) override;
  void conclude(Conclusion &) const override;

  // A sentence, once it has failed.
  const std::optional<std::string> &failure() const { return failure_; }

private:
  template <class Call> void call(Call) const;

  const analyzer::Plugin &plugin_;
  std::string file_;
  void *self_ = nullptr;
  uint32_t event_kinds_ = 0;
  mutable std::optional<std::string> failure_; // also of conclude()
};

} // namespace msleaks::analysis
