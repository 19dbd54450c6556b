#include "analysis/report/process_code.h"

#include "analysis/base/run_folder.h"
#include "analysis/places/ancestry.h"
#include "analysis/places/definition_records.h"
#include "analysis/trace/trace_reader.h"

#include <string>
#include <string_view>

namespace msleaks::analysis::inline report {

Result<std::set<uint32_t>> processesWithCodeIn(const std::filesystem::path &folder, const std::filesystem::path &run) {
  const auto opened = MSL_TRY(RunFolder::open(run));
  const auto reader = MSL_TRY(TraceReader::open(opened.trace()));
  const std::string prefix = folder.string() + "/";
  std::set<uint32_t> processes;
  Ancestry ancestry;
  const auto addRecord = [&](uint32_t process, abi::DefinitionKind kind, std::span<const std::byte> body) {
    if (kind == abi::DefinitionKind::Inherited)
      ancestry.add(process, body);
    if (kind != abi::DefinitionKind::Image || body.size() < sizeof(abi::ImageDefinition))
      return;
    const auto path = body.subspan(sizeof(abi::ImageDefinition));
    if (std::string_view(reinterpret_cast<const char *>(path.data()), path.size()).starts_with(prefix))
      processes.insert(process);
  };
  MSL_TRY(reader.forEachDefinitions([&](uint32_t process, std::span<const std::byte> records) {
    forEachDefinition(records, [&](abi::DefinitionKind kind, auto body) { addRecord(process, kind, body); });
  }));
  for (const ProcessStart &start : reader.processes())
    ancestry.add(start);
  for (const ProcessStart &start : reader.processes())
    ancestry.findAmong(start.process, [&](uint32_t ancestor) {
      const bool is_child = processes.contains(ancestor);
      if (is_child)
        processes.insert(start.process);
      return is_child;
    });
  return processes;
}

} // namespace msleaks::analysis::inline report
