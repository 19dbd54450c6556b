// msleaks oom RUN: shows a refused allocation, the live blocks at that time, and what the user should try first.
#include "analysis/base/terminal.h"
#include "analysis/report/out_of_memory.h"
#include "analysis/text/out_of_memory_forms.h"
#include "analysis/text/report_text.h"
#include "verb.h"

#include <iostream>
#include <memory>
#include <unistd.h>

namespace msleaks::tools {
namespace {

struct OutOfMemoryOptions {
  std::string run;
  bool json = false;
  analysis::TableStyle style;
};

Result<ExitStatus> showOutOfMemory(const OutOfMemoryOptions &options) {
  Result<analysis::OutOfMemory> found = [&] {
    analysis::ProgressLine line;
    return analysis::analyzeOutOfMemory(options.run, options.style.top,
                                        [&line](const std::string &doing) { line.drawIfDue(doing); });
  }();
  if (!found)
    return tl::make_unexpected(found.error());
  if (options.json) {
    analysis::writeOutOfMemoryJson(std::cout, *found);
  } else {
    analysis::TableStyle style = options.style;
    style.columns = analysis::outputColumns(STDOUT_FILENO);
    analysis::writeOutOfMemoryText(std::cout, *found, style);
  }
  return found->refused ? ExitStatus::Findings : ExitStatus::Clean;
}

Action declareOutOfMemory(CommandLine &line) {
  const auto options = std::make_shared<OutOfMemoryOptions>();
  line.option("RUN", options->run, "names the folder of a run, or its trace file").required();
  line.flag("--json", options->json, "prints everything as JSON (docs/analyses.md)");
  line.option("--top", options->style.top, "sets the number of blocks and places in each list")
      .between(1, 1000)
      .showDefault();
  return [options] { return showOutOfMemory(*options); };
}

} // namespace

MSL_REGISTER_VERB(oom, "shows what was alive when memory was refused, and what to try first", declareOutOfMemory)

} // namespace msleaks::tools
