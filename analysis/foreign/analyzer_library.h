// A shared object with an analyzer of somebody's own (msleaks/analyzer.h).
#pragma once

#include "analysis/base/result.h"
#include "msleaks/abi/analyzer.h"

#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis {

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

} // namespace msleaks::analysis
