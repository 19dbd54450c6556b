#include "analysis/compare/launches.h"

#include "analysis/base/run_folder.h"
#include "analysis/compare/launch_recorder.h"
#include "analysis/places/symbolizer.h"
#include "analysis/stream/pipeline.h"
#include "analysis/trace/trace_reader.h"

namespace msleaks::analysis::inline compare {

Result<RunLaunches> launchesOf(const std::filesystem::path &run, NameTable &names) {
  const auto folder = MSL_TRY(RunFolder::open(run));
  const auto reader = MSL_TRY(TraceReader::open(folder.trace()));
  Symbolizer symbolizer;
  MSL_TRY(reader.forEachNames([&](const ImageNames &of_image) { symbolizer.add(of_image); }));
  SiteCatalog catalog(symbolizer);
  MSL_TRY(catalog.load(reader));
  LaunchRecorder recorder(catalog, names);
  Pipeline pipeline(catalog, {&recorder}, {}, {}, History::LeftOut);
  for (const auto &[process, fate] : fatesOf(reader))
    pipeline.expectEnd(process, fate);
  for (const ProcessStart &start : reader.processes())
    pipeline.setPageBytes(start.process, start.page_bytes);
  MSL_TRY(reader.forEachEvent(Reading::Ahead, [&](const StreamEvent &event) {
    pipeline.apply(event);
    return true;
  }));
  pipeline.finish();
  return RunLaunches{recorder.take(), reader.damage()};
}

} // namespace msleaks::analysis::inline compare
