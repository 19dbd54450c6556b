// Fuzzes the reader of msMemScope's databases. A database that is refused gives one line.
#include "analysis/importers/foreign_rows.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace msleaks::analysis;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  const std::filesystem::path file = "/tmp/msleaks-fuzz-" + std::to_string(::getpid()) + ".db";
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char *>(input), static_cast<std::streamsize>(size));
  const auto read = forEachForeignRow(file, [](const ForeignRow &) {});
  if (!read && read.error().message.find('\n') != std::string::npos)
    std::abort();
  std::filesystem::remove(file);
  return 0;
}
