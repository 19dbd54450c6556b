// Wraps a user's analyzer as one of our analyzers. If the user's analyzer fails, it is not called again, and the report
// contains none of its results.
#pragma once

#include "analysis/base/result.h"
#include "analysis/stream/analyzer.h"
#include "msleaks/abi/analyzer.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline foreign {

// A shared object with a user's analyzer (msleaks/analyzer.h).
class AnalyzerLibrary {
public:
  // Fails if it cannot be loaded, contains no analyzer, or needs a later version. It stays loaded until msleaks ends.
  static Result<AnalyzerLibrary> load(const std::filesystem::path &file);

  const analyzer::Plugin &plugin() const { return *plugin_; }
  const std::string &file() const { return file_; }

private:
  AnalyzerLibrary(const analyzer::Plugin *plugin, std::string file) : plugin_(plugin), file_(std::move(file)) {}
  const analyzer::Plugin *plugin_;
  std::string file_; // as the user wrote it
};

struct LoadedAnalyzers {
  std::vector<AnalyzerLibrary> libraries;
  std::vector<std::string> refusals; // a sentence for each library that was refused
};
// Also refuses a second analyzer with the same name, because the results could not be told apart.
LoadedAnalyzers loadAnalyzers(const std::vector<std::string> &files);

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

  // A sentence, if the analyzer has failed.
  const std::optional<std::string> &failure() const { return failure_; }

private:
  template <class Call> void call(Call) const;

  const analyzer::Plugin &plugin_;
  std::string file_;
  void *self_ = nullptr;
  uint32_t event_kinds_ = 0;
  mutable std::optional<std::string> failure_; // conclude() may set it, too
};

} // namespace msleaks::analysis::inline foreign
