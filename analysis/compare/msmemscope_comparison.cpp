#include "analysis/compare/msmemscope_comparison.h"

#include "analysis/base/output.h"
#include "analysis/base/path_check.h"
#include "analysis/compare/alignment.h"

#include <algorithm>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <iterator>

namespace msleaks::analysis::inline compare {
namespace {

constexpr char kNothing[] = "N/A";
constexpr char kHead[] = ",,,Base,Compare\n"
                         "Event,Name,Device Id,Allocated Memory(byte),Allocated Memory(byte),Diff Memory(byte)\n";

std::vector<uint32_t> namesOf(const DumpDevice &device) {
  std::vector<uint32_t> names;
  names.reserve(device.launches.size());
  for (const DumpLaunch &launch : device.launches)
    names.push_back(launch.name);
  return names;
}

// Adds the rows of one device.
class DeviceRows {
public:
  DeviceRows(const DumpDevice &base, const DumpDevice &compared, MsmemscopeComparison &to)
      : base_(base), compared_(compared), to_(to) {}

  void add() {
    const Alignment alignment = align(namesOf(base_), namesOf(compared_));
    to_.coarse |= alignment.coarse;
    forEachAligned<DumpLaunch>(alignment, base_.launches, compared_.launches,
                               [this](const DumpLaunch *base, const DumpLaunch *compared) { addRow(base, compared); });
  }

private:
  void addRow(const DumpLaunch *base, const DumpLaunch *compared) {
    MsmemscopeRow row;
    row.device = base ? base_.device : compared_.device;
    row.name = base ? base->name : compared->name;
    row.in_base = base;
    row.in_compared = compared;
    if (base)
      row.base = base->size;
    if (compared)
      row.compared = compared->size;
    to_.differing += row.differs();
    to_.rows.push_back(std::move(row));
  }

  const DumpDevice &base_, &compared_;
  MsmemscopeComparison &to_;
};

std::string cellOf(const std::string &text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos)
    return text;
  std::string cell = "\"";
  for (const char character : text)
    cell += character == '"' ? std::string("\"\"") : std::string(1, character);
  return cell + '"';
}

std::string cellOf(const std::optional<DumpSize> &size) { return size ? textOf(*size) : kNothing; }

} // namespace

MsmemscopeComparison compareAsMsmemscope(const MsmemscopeDump &base, const MsmemscopeDump &compared) {
  static const DumpDevice kNoDevice;
  MsmemscopeComparison comparison;
  for (auto a = base.begin(), b = compared.begin(); a != base.end() || b != compared.end();) {
    const bool only_b = a == base.end() || (b != compared.end() && isEarlierDevice(b->device, a->device));
    const bool only_a = b == compared.end() || (a != base.end() && isEarlierDevice(a->device, b->device));
    DeviceRows(only_b ? kNoDevice : *a, only_a ? kNoDevice : *b, comparison).add();
    a += !only_b;
    b += !only_a;
  }
  return comparison;
}

std::string msmemscopeTable(const MsmemscopeComparison &comparison, DumpLevel level, const NameTable &names) {
  std::string text = kHead;
  for (const MsmemscopeRow &row : comparison.rows)
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}\n",
                   level == DumpLevel::Kernel ? "KERNEL_LAUNCH" : "OP_LAUNCH", cellOf(names[row.name]),
                   cellOf(row.device), cellOf(row.base), cellOf(row.compared), textOf(row.difference()));
  return text;
}

Result<std::filesystem::path> writeMsmemscopeTable(const std::string &content, const std::filesystem::path &folder,
                                                   std::time_t now) {
  MSL_TRY(checkOutputFolder(folder));
  if (!std::filesystem::exists(folder))
    MSL_TRY(makeOutputFolder(folder, 0750));
  std::filesystem::path path = folder / fmt::format("memory_compare_{:%Y%m%d%H%M%S}.csv", fmt::localtime(now));
  auto file = MSL_TRY(OutputFile::create(path));
  MSL_TRY(file.write(content));
  MSL_TRY(file.commit());
  return path;
}

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

} // namespace msleaks::analysis::inline compare
