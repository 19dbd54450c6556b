// speedscope: a profile for https://www.speedscope.app (docs/formats.md).
#include "analysis/exporters/numbered.h"
#include "analysis/exporters/path_exporter.h"
#include "analysis/exporters/registry.h"
#include "analysis/result/writer.h"

#include <ostream>
#include <ranges>

namespace msleaks::analysis::inline exporters {
namespace {

constexpr char kSchema[] = "https://www.speedscope.app/file-format-schema.json";

Json jsonOf(const PathFrame &frame) {
  Json json{{"name", frame.function}};
  if (!frame.file.empty())
    json["file"] = frame.file;
  if (frame.line != 0)
    json["line"] = frame.line;
  if (frame.column != 0)
    json["col"] = frame.column;
  return json;
}

class SpeedscopeExporter final : public PathExporter {
protected:
  void writePaths(const Report &report, const std::vector<PathBlocks> &list, std::ostream &out) override {
    Numbered<PathFrame> frames;
    Json samples = Json::array(), weights = Json::array(), shown = Json::array();
    uint64_t bytes = 0;
    for (const PathBlocks &blocks : list) {
      Json sample = Json::array();
      for (PathFrame &frame : framesOf(blocks))
        sample.push_back(frames.numberOf(std::move(frame)));
      std::ranges::reverse(sample);
      samples.push_back(std::move(sample));
      weights.push_back(blocks.bytes);
      bytes += blocks.bytes;
    }
    for (const PathFrame *frame : frames.items())
      shown.push_back(jsonOf(*frame));
    const std::string name = fmt::format("{}: {}", programOf(report), title(report));
    const Json profile{{"type", "sampled"},
                       {"name", name},
                       {"unit", "bytes"},
                       {"startValue", 0},
                       {"endValue", bytes},
                       {"samples", std::move(samples)},
                       {"weights", std::move(weights)}};
    const Json file{{"$schema", kSchema},
                    {"exporter", "msleaks"},
                    {"name", name},
                    {"activeProfileIndex", 0},
                    {"shared", {{"frames", std::move(shown)}}},
                    {"profiles", Json::array({profile})}};
    result::write(out, file, -1);
    out << '\n';
  }
};

} // namespace

MSL_REGISTER_EXPORTER(speedscope, "bytes of each call path, for speedscope.app", SpeedscopeExporter)

} // namespace msleaks::analysis::inline exporters
