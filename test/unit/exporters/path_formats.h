// Reports for the tests of the formats that contain paths.
#pragma once

#include "analysis/exporters/registry.h"

#include <gtest/gtest.h>
#include <sstream>
#include <string>

namespace msleaks::analysis::test {

inline std::string exported(std::string_view format, const Report &report, Blocks blocks = Blocks::Peak) {
  const auto exporter = std::get<std::unique_ptr<ReportExporter>>(formatOf(format)->make());
  EXPECT_TRUE(exporter->choose(blocks));
  std::ostringstream out;
  exporter->write(report, out);
  return out.str();
}

inline SiteText callTo(std::string function, std::string file, uint32_t line, uint32_t column = 0) {
  SiteText call;
  call.function = std::move(function);
  call.file = std::move(file);
  call.line = line;
  call.column = column;
  call.library = "/bin/net";
  return call;
}

// Two places are alive at the peak. The first has two paths, and blocks of a path that is left out. One block leaks.
inline Report smallReport() {
  SiteText grow = callTo("grow(int)", "net.cpp", 7, 3);
  grow.inlined_at = {{"make()", "net.cpp", 20, 5}};
  SiteText forward = callTo("forward", "model.py", 12);
  forward.origin = SiteOrigin::Python;
  forward.library = "model.py";
  const auto shared = [](SiteText call) { return std::make_shared<const SiteText>(std::move(call)); };
  const auto inner = shared(grow);
  const auto outer = shared(callTo("main", "main.cpp", 3));

  Report report;
  report.command = {"/bin/net", "two words"};
  report.duration_ns = 5'000'000;
  report.processes.emplace_back().pid = 42;
  SiteLine line;
  line.site = grow;
  line.bytes = 1524;
  line.count = 6;
  line.paths = {{1000, 2, {inner, outer}, true, 1}, {500, 1, {inner, shared(forward)}, true, 2}};
  line.more_paths = 1;
  SiteLine hook;
  hook.site.origin = SiteOrigin::Hook;
  hook.site.library = "/lib/libx.so";
  hook.site.offset = 0x7123;
  hook.bytes = 100;
  hook.count = 1;
  report.peak.by_site = {line, hook};
  report.peak.bytes = 1624;
  LeakLine leak;
  leak.site = grow;
  leak.bytes = 64;
  leak.count = 1;
  leak.paths = {{64, 1, {inner, outer}, true, 1}};
  report.leaks.by_site = {leak};
  report.leaks.sum = {64, 1};
  return report;
}

// A name that breaks a format that does not escape it, and this name as exporters write it.
struct HostileName {
  std::string name, written;
};
inline const std::vector<HostileName> kHostileNames = {
    {"a;b", "a;b"},
    {"say \"hi\", 'you', \\n", "say \"hi\", 'you', \\n"},
    {"two\nlines\r\t", "two\\x0alines\\x0d\\x09"},
    {"no \xff\xc3 text", "no \\xff\\xc3 text"},
    {"gr\xc3\xb6\xc3\x9f"
     "er 12",
     "gr\xc3\xb6\xc3\x9f"
     "er 12"},
    {std::string(4096, 'x'), std::string(4096, 'x')},
    {std::string("zero\0", 5), "zero\\x00"},
};

// A report with one block of 7 bytes. Its function, file and library have this name.
inline Report reportOf(const HostileName &hostile) {
  Report report;
  SiteLine line;
  line.site = callTo(hostile.name, hostile.name, 1);
  line.site.library = hostile.name;
  line.bytes = 7;
  line.count = 1;
  report.command = {hostile.name};
  report.peak.by_site = {line};
  report.peak.bytes = 7;
  return report;
}

} // namespace msleaks::analysis::test
