// An analyzer of somebody's own as one of ours. When it fails it is told nothing more, and nothing of it comes into the
// result.
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

// A shared object with an analyzer of somebody's own (msleaks/analyzer.h).
class AnalyzerLibrary {
public:
  // Fails when it cannot be loaded, has no analyzer, or one of another version. It stays loaded until msleaks ends.
  static Result<AnalyzerLibrary> load(const std::filesystem::path &file);

  const analyzer::Plugin &plugin() const { return *plugin_; }
  const std::string &file() const { return file_; }

private:
  AnalyzerLibrary(const analyzer::Plugin *plugin, std::string file) : plugin_(plugin), file_(std::move(file)) {}
  const analyzer::Plugin *plugin_;
  std::string file_; // as the user named it
};

struct LoadedAnalyzers {
  std::vector<AnalyzerLibrary> libraries;
  std::vector<std::string> refusals; // of the others, a sentence each
};
// Also refuses a second one of the same name: its results could not be told apart.
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

} // namespace msleaks::analysis::inline foreign
