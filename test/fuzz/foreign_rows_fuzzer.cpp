// Fuzzes the reader of msMemScope's CSV dumps as runs. The run of an accepted dump can be analyzed.
#include "analysis/importers/foreign_events.h"
#include "analysis/report/analyze_run.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdlib.h>

using namespace msleaks::analysis;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char *>(input), size));
  ForeignEvents events;
  const auto read = forEachForeignRow(in, "fuzzed", [&](const ForeignRow &row) { events.add(row); });
  if (!read && read.error().message.find('\n') != std::string::npos)
    std::abort();
  if (!read || events.empty())
    return 0;
  char pattern[] = "/tmp/msleaks-fuzz-XXXXXX";
  if (::mkdtemp(pattern) == nullptr)
    std::abort();
  const std::filesystem::path base = pattern;
  const auto folder = RunFolder::create(base / "run");
  if (!folder || !events.write(*folder, "fuzzed") || !analyzeRun(folder->path()))
    std::abort();
  std::filesystem::remove_all(base);
  return 0;
}
