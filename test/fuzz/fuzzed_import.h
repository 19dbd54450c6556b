// Imports fuzzed bytes. The run of accepted bytes can be analyzed, and a refusal is one line.
#pragma once

#include "analysis/importers/registry.h"
#include "analysis/report/analyze_run.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdlib.h>
#include <string>
#include <string_view>

namespace msleaks {

inline void importFuzzed(std::string_view format, const uint8_t *input, size_t size) {
  using namespace analysis;
  char pattern[] = "/tmp/msleaks-fuzz-XXXXXX";
  if (::mkdtemp(pattern) == nullptr)
    std::abort();
  const std::filesystem::path base = pattern;
  const auto folder = RunFolder::create(base / "run");
  auto run = ForeignRun::create(*folder, "fuzzed");
  for (const Importer &importer : allImporters()) {
    if (importer.name != format)
      continue;
    std::istringstream in(std::string(reinterpret_cast<const char *>(input), size));
    auto read = importer.read(in, *run);
    if (read)
      read = run->finish();
    if (read ? !analyzeRun(folder->path()) : read.error().message.find('\n') != std::string::npos)
      std::abort();
  }
  std::filesystem::remove_all(base);
}

} // namespace msleaks
