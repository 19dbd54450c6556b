#include "analysis/compare/msmemscope_side.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis::compare {

MsmemscopeDump dumpOf(const RunLaunches &run, DumpLevel level) {
  MsmemscopeDump dump;
  for (const LaunchSequence &sequence : run.sequences) {
    const std::string name = sequence.device ? std::to_string(*sequence.device) : "cpu";
    if (dump.empty() || dump.back().device != name)
      dump.push_back({name, {}});
    for (const Launch &launch : sequence.launches)
      if (launch.is_range == (level == DumpLevel::Operator))
        dump.back().launches.push_back(
            {launch.name, launch.next_bytes != 0 ? std::optional<DumpSize>(launch.next_bytes) : std::nullopt});
    if (dump.back().launches.empty())
      dump.pop_back();
  }
  std::sort(dump.begin(), dump.end(),
            [](const DumpDevice &a, const DumpDevice &b) { return isEarlierDevice(a.device, b.device); });
  return dump;
}

Result<MsmemscopeSide> readMsmemscopeSide(const std::string &path, DumpLevel level, NameTable &names) {
  MsmemscopeSide side;
  if (path.ends_with(".csv")) {
    side.launches = MSL_TRY(readMsmemscopeDump(std::filesystem::path(path), level, names));
    if (side.launches.empty())
      return fail(fmt::format("'{}' has no launch to compare: it has no row {} (msMemScope writes them with "
                              "--events=launch)",
                              path, level == DumpLevel::Kernel ? "KERNEL_LAUNCH" : "ATEN_END or ATB_END"));
    return side;
  }
  RunLaunches run = MSL_TRY(launchesOf(path, names));
  side.damage = std::move(run.damage);
  side.launches = dumpOf(run, level);
  if (side.launches.empty())
    return fail(fmt::format("'{}' has no {} to compare", path, level == DumpLevel::Kernel ? "launch" : "range"));
  return side;
}

} // namespace msleaks::analysis::compare
