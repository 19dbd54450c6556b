// A format that contains blocks with the paths that allocated them.
#pragma once

#include "analysis/base/text.h"
#include "analysis/exporters/exporter.h"
#include "analysis/text/paths.h"

#include <compare>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline exporters {

// A function on a path. Its texts are printable and so valid UTF-8 on one line (base/text.h).
struct PathFrame {
  std::string function, file;
  uint32_t line = 0, column = 0;
  bool is_python = false;
  auto operator<=>(const PathFrame &) const = default;

  // "function (file:line)"
  std::string text() const {
    if (file.empty())
      return function;
    return line == 0 ? fmt::format("{} ({})", function, file) : fmt::format("{} ({}:{})", function, file, line);
  }
};

// Returns the function of the call, and then each function where it was inlined, the innermost first.
inline std::vector<PathFrame> framesOf(const SiteText &call) {
  std::vector<PathFrame> frames;
  const auto add = [&](const FrameText &frame) {
    frames.push_back({printable(functionOf(call, frame)), printable(frame.file), frame.line, frame.column,
                      call.origin == SiteOrigin::Python});
  };
  add(call);
  for (const FrameText &inlined : call.inlined_at)
    add(inlined);
  return frames;
}

// Returns the function of each call of the path, the innermost first.
inline std::vector<PathFrame> framesOf(const PathBlocks &blocks) {
  std::vector<PathFrame> frames;
  for (const SiteText *call : blocks.calls)
    for (PathFrame &frame : framesOf(*call))
      frames.push_back(std::move(frame));
  return frames;
}

// Returns the chosen blocks of physical heaps. The sum of blocks alive at the peak, or of leaks, is `peak.bytes` or
// `leaks.bytes` of the report.
inline std::vector<PathBlocks> pathsOf(const Report &report, Blocks blocks) {
  std::vector<PathBlocks> list;
  const auto add = [&](const auto &lines) {
    for (const SiteLine &line : lines)
      for (PathBlocks &of_path : blocksByPath(line))
        list.push_back(std::move(of_path));
  };
  switch (blocks) {
  case Blocks::Peak:
    add(report.peak.by_site);
    break;
  case Blocks::Leaks:
    add(report.leaks.by_site);
    break;
  case Blocks::Allocated:
    add(report.allocated);
    break;
  }
  return list;
}

inline std::string programOf(const Report &report) {
  return report.command.empty() ? "(unknown program)" : printable(baseName(report.command.front()));
}

inline std::string commandOf(const Report &report) {
  return printable(fmt::format("{}", fmt::join(report.command, " ")));
}

class PathExporter : public ReportExporter {
public:
  bool choose(Blocks blocks) final {
    blocks_ = blocks;
    return true;
  }
  bool hasLeaks() const final { return blocks_ == Blocks::Leaks; }
  bool listsDamage() const final { return false; }
  void ask(ReportQuestion &question) const final { question.wants_allocated = blocks_ == Blocks::Allocated; }
  void write(const Report &report, std::ostream &out) final { writePaths(report, pathsOf(report, blocks_), out); }

protected:
  // Writes all chosen blocks.
  virtual void writePaths(const Report &, const std::vector<PathBlocks> &, std::ostream &) = 0;
  // Returns the name that pprof and OpenTelemetry have for the chosen blocks: "inuse" or "alloc".
  std::string kind() const { return blocks_ == Blocks::Allocated ? "alloc" : "inuse"; }
  // Says in a few words which blocks the file has: "alive at the peak".
  std::string title(const Report &report) const {
    if (blocks_ == Blocks::Allocated)
      return "allocated in all";
    if (blocks_ == Blocks::Leaks)
      return "leaks";
    const std::string moment = report.at ? printable(report.at->name) : "peak";
    return (moment == "peak" || moment == "end" ? "alive at the " : "alive at ") + moment;
  }

private:
  Blocks blocks_ = Blocks::Peak;
};

} // namespace msleaks::analysis::inline exporters
