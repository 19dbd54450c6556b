// dhat: a file for dh_view.html, the viewer of Valgrind's DHAT (docs/formats.md).
#include "analysis/exporters/numbered.h"
#include "analysis/exporters/path_exporter.h"
#include "analysis/exporters/registry.h"
#include "analysis/result/writer.h"

#include <cctype>
#include <ostream>

namespace msleaks::analysis::inline exporters {
namespace {

constexpr int kFileVersion = 2;

// The viewer refuses a file in which two points have the same frames, as paths that differ only in a column have. So
// points are sums over paths.
class Points {
public:
  Points() { frames_.numberOf("[root]"); } // the viewer expects the root first
  void add(const PathBlocks &blocks) {
    std::vector<size_t> path;
    for (const PathFrame &frame : framesOf(blocks))
      path.push_back(frames_.numberOf(frame.text()));
    const size_t number = paths_.numberOf(std::move(path));
    sums_.resize(paths_.items().size());
    sums_[number] += {blocks.bytes, blocks.count};
  }
  Json points() const {
    Json list = Json::array();
    for (size_t i = 0; i < sums_.size(); ++i)
      list.push_back({{"tb", sums_[i].bytes}, {"tbk", sums_[i].count}, {"fs", *paths_.items()[i]}});
    return list;
  }
  Json frames() const {
    Json list = Json::array();
    for (const std::string *frame : frames_.items())
      list.push_back(*frame);
    return list;
  }

private:
  Numbered<std::string> frames_;
  Numbered<std::vector<size_t>> paths_;
  std::vector<BlockSum> sums_; // by the number of the path
};

// The viewer can show lifetimes and accesses of blocks, too. A report has none for a path, so the file says so.
class DhatExporter final : public PathExporter {
protected:
  void writePaths(const Report &report, const std::vector<PathBlocks> &list, std::ostream &out) override {
    Points points;
    for (const PathBlocks &blocks : list)
      points.add(blocks);
    std::string verb = title(report);
    verb.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(verb.front())));
    const Json file{{"dhatFileVersion", kFileVersion},
                    {"mode", "msleaks"},
                    {"verb", std::move(verb)},
                    {"bklt", false},
                    {"bkacc", false},
                    {"tu", "ns"},
                    {"Mtu", "ms"},
                    {"cmd", commandOf(report)},
                    {"pid", report.processes.empty() ? 0 : report.processes.front().pid},
                    {"te", report.duration_ns},
                    {"pps", points.points()},
                    {"ftbl", points.frames()}};
    result::write(out, file, -1);
    out << '\n';
  }
};

} // namespace

MSL_REGISTER_EXPORTER(dhat, "bytes and blocks of each call path, for DHAT's viewer", DhatExporter)

} // namespace msleaks::analysis::inline exporters
