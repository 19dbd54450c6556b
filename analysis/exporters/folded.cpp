// folded: one line for each path, as flamegraph.pl, inferno and speedscope read it (docs/formats.md).
#include "analysis/exporters/path_exporter.h"
#include "analysis/exporters/registry.h"

#include <ostream>
#include <ranges>

namespace msleaks::analysis::inline exporters {
namespace {

// A semicolon separates the calls of a line.
void escapeSemicolons(std::string &text) {
  for (size_t at = 0; (at = text.find(';', at)) != std::string::npos;)
    text.replace(at, 1, "\\x3b");
}

// Functions of Python often share a name, such as forward, so each has its file and line.
std::string nameOf(const PathFrame &frame) {
  std::string name = frame.is_python ? frame.text() : frame.function;
  escapeSemicolons(name);
  return name;
}

class FoldedExporter final : public PathExporter {
protected:
  // Blocks of 0 bytes would be a line without width.
  void writePaths(const Report &, const std::vector<PathBlocks> &list, std::ostream &out) override {
    for (const PathBlocks &blocks : list)
      if (blocks.bytes != 0)
        out << lineOf(blocks) << '\n';
  }

private:
  static std::string lineOf(const PathBlocks &blocks) {
    std::string line;
    for (const PathFrame &frame : framesOf(blocks) | std::views::reverse)
      line += (line.empty() ? "" : ";") + nameOf(frame);
    return fmt::format("{} {}", line, blocks.bytes);
  }
};

} // namespace

MSL_REGISTER_EXPORTER(folded, "bytes of each call path, for flame graphs", FoldedExporter)

} // namespace msleaks::analysis::inline exporters
