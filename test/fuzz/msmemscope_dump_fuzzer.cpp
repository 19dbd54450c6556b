// Fuzzes the reader of msMemScope's dumps. An accepted dump is compared with itself: nothing differs, and the written
// table has all names.
#include "analysis/compare/msmemscope_comparison.h"
#include "analysis/compare/msmemscope_dump.h"

#include <cstdlib>
#include <sstream>

using namespace msleaks::analysis;

namespace {

void expect(bool condition) {
  if (!condition)
    std::abort();
}

void expectNames(const MsmemscopeComparison &comparison, const NameTable &names, const std::string &table) {
  std::istringstream in(table);
  CsvReader reader(in, "table");
  expect(*reader.next() && *reader.next()); // the two lines of the header
  for (const MsmemscopeRow &row : comparison.rows) {
    expect(*reader.next());
    const auto &cells = reader.cells();
    expect(cells.size() == 6 && cells[1] == names[row.name] && cells[2] == row.device);
  }
  expect(!*reader.next());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  for (const DumpLevel level : {DumpLevel::Kernel, DumpLevel::Operator}) {
    std::istringstream in(std::string(reinterpret_cast<const char *>(input), size));
    NameTable names;
    const auto dump = readMsmemscopeDump(in, "fuzzed", level, names);
    if (!dump) {
      expect(dump.error().message.find('\n') == std::string::npos);
      continue;
    }
    const MsmemscopeComparison comparison = compareAsMsmemscope(*dump, *dump);
    expect(comparison.differing == 0 && !comparison.coarse);
    expectNames(comparison, names, msmemscopeTable(comparison, level, names));
  }
  return 0;
}
