// msleaks profile …: shows and compares profiles of several formats, and converts profiles to the format of LNT, LLVM's
// tool for performance tests.
#include "analysis/counts/profile.h"
#include "analysis/adapters/registry.h"
#include "analysis/base/output.h"
#include "analysis/base/terminal.h"
#include "analysis/counts/comparison.h"
#include "analysis/counts/escaped.h"
#include "analysis/counts/graphs_profile.h"
#include "analysis/counts/lnt_format.h"
#include "analysis/counts/lnt_report.h"
#include "verb.h"

#include <cmath>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace msleaks::tools {
namespace {

using analysis::profiles::Profile;

struct ProfileOptions {
  analysis::ProfileLoading loading{};
  bool no_text = false;
  std::string file, second, function, output;
  bool json = false;
  analysis::profiles::ComparisonChoice choice{};
  std::string machine, test;
  std::vector<std::string> machine_fields, order, metrics;
};

Result<Profile> load(ProfileOptions &options, const std::string &file) {
  options.loading.notes.clear();
  options.loading.perf.text = !options.no_text;
  auto profile = MSL_TRY(analysis::loadProfile(file, options.loading));
  for (const std::string &note : options.loading.notes)
    spdlog::warn("{}: {}", file, note);
  return profile;
}

Result<ExitStatus> showCounters(ProfileOptions &options) {
  writeCountersJson(std::cout, MSL_TRY(load(options, options.file)));
  return ExitStatus::Clean;
}

Result<ExitStatus> showFunctions(ProfileOptions &options) {
  writeFunctionsJson(std::cout, MSL_TRY(load(options, options.file)));
  return ExitStatus::Clean;
}

Result<ExitStatus> showCode(ProfileOptions &options) {
  const auto profile = MSL_TRY(load(options, options.file));
  if (options.function.empty()) {
    writeCodeJson(std::cout, profile);
    return ExitStatus::Clean;
  }
  const auto function = profile.functions.find(options.function);
  if (function == profile.functions.end())
    return fail(fmt::format("'{}' has no function '{}'; `msleaks profile functions` lists them", options.file,
                            analysis::profiles::shown(options.function)));
  writeCodeJson(std::cout, function->second);
  return ExitStatus::Clean;
}

// Prints the version of the profile's format as LNT counts: 2 for LNT's second format, and 1 for all other formats. LNT
// converts the other formats to its first format.
Result<ExitStatus> showVersion(ProfileOptions &options) {
  options.no_text = true;
  MSL_TRY(load(options, options.file));
  std::cout << (options.loading.format == "lnt2" ? 2 : 1) << '\n';
  return ExitStatus::Clean;
}

Result<ExitStatus> showDisassemblyFormat(ProfileOptions &options) {
  options.no_text = true;
  writeDisassemblyFormatJson(std::cout, MSL_TRY(load(options, options.file)));
  return ExitStatus::Clean;
}

Result<void> writeFile(const std::string &path, const std::string &content) {
  auto file = MSL_TRY(analysis::OutputFile::create(path));
  MSL_TRY(file.write(content));
  return file.commit();
}

Result<ExitStatus> upgrade(ProfileOptions &options) {
  const auto profile = MSL_TRY(load(options, options.file));
  const std::string bytes = MSL_TRY(writeLnt(profile));
  MSL_TRY(writeFile(options.output, bytes).map_error(analysis::ofOutput));
  return ExitStatus::Clean;
}

// Splits the value "NAME=VALUE" of an option.
Result<std::pair<std::string, std::string>> fieldOf(const std::string &text, const char *option) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return fail(fmt::format("{} is given '{}'; expected NAME=VALUE", option, text), ExitStatus::Usage);
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<void> readMetrics(const ProfileOptions &options, analysis::profiles::LntReport &report) {
  for (const std::string &text : options.metrics) {
    const auto [name, value] = MSL_TRY(fieldOf(text, "--metric"));
    char *end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (*end != '\0' || !std::isfinite(number))
      return fail(fmt::format("--metric {}: '{}' is no number", name, value), ExitStatus::Usage);
    report.metrics[name].push_back(number);
  }
  return {};
}

// Makes the report for LNT. Fields that no option sets come from the machine, from the file's name and time, and from
// the profile.
Result<analysis::profiles::LntReport> reportOf(const ProfileOptions &options, const Profile &profile) {
  analysis::profiles::LntReport report;
  struct utsname system{};
  ::uname(&system);
  report.machine = options.machine.empty() ? system.nodename : options.machine;
  report.machine_fields = {{"hardware", system.machine}, {"os", fmt::format("{} {}", system.sysname, system.release)}};
  for (const std::string &text : options.machine_fields) {
    const auto [name, value] = MSL_TRY(fieldOf(text, "--machine-field"));
    report.machine_fields[name] = value;
  }
  struct stat status{};
  if (::stat(options.file.c_str(), &status) != 0) // the profile is read from stdin
    status.st_mtime = ::time(nullptr);
  report.start_time = report.end_time = status.st_mtime;
  for (const std::string &text : options.order) {
    const auto [name, value] = MSL_TRY(fieldOf(text, "--order"));
    report.run_fields[name] = value;
  }
  if (options.order.empty())
    report.run_fields["llvm_project_revision"] = fmt::format("{:%Y%m%d%H%M%S}", fmt::gmtime(status.st_mtime));
  report.test = options.test.empty() ? "nts." + std::filesystem::path(options.file).stem().string() : options.test;
  MSL_TRY(readMetrics(options, report));
  if (options.metrics.empty()) {
    const auto [name, value] = metricOf(profile);
    report.metrics[name].push_back(value);
  }
  return report;
}

Result<ExitStatus> showReport(ProfileOptions &options) {
  const auto profile = MSL_TRY(load(options, options.file));
  const auto report = MSL_TRY(reportOf(options, profile));
  writeLntReport(std::cout, report, MSL_TRY(writeLnt(profile)));
  return ExitStatus::Clean;
}

Result<ExitStatus> compare(ProfileOptions &options) {
  const auto first = MSL_TRY(load(options, options.file));
  const auto second = MSL_TRY(load(options, options.second));
  const auto comparison = MSL_TRY(analysis::profiles::compareProfiles(first, second, options.choice));
  if (options.json)
    writeComparisonJson(std::cout, comparison);
  else
    writeComparisonText(std::cout, comparison, analysis::outputColumns(STDOUT_FILENO));
  return ExitStatus::Clean;
}

Result<ExitStatus> exportCounts(ProfileOptions &options) {
  const auto functions = MSL_TRY(analysis::graphsOfRun(options.file));
  const std::string bytes = MSL_TRY(writeLnt(analysis::profileOf(functions)));
  MSL_TRY(writeFile(options.output, bytes).map_error(analysis::ofOutput));
  return ExitStatus::Clean;
}

Result<ExitStatus> listProfileFormats() {
  for (const analysis::ProfileAdapter &adapter : analysis::profileAdapters())
    std::cout << fmt::format("{:<10} {}\n", adapter.name, adapter.summary);
  return ExitStatus::Clean;
}

using Deed = Result<ExitStatus> (*)(ProfileOptions &);

class Declaration {
public:
  explicit Declaration(CommandLine &line)
      : line_(line), options_(std::make_shared<ProfileOptions>()), chosen_(std::make_shared<Deed>()) {
    line_.requireCommand();
  }

  CommandLine &add(const char *name, const char *summary, Deed deed) {
    return line_.command(name, summary, [chosen = chosen_, deed] { *chosen = deed; });
  }
  CommandLine &addReading(const char *name, const char *summary, Deed deed) {
    CommandLine &subcommand = add(name, summary, deed);
    subcommand
        .option("FILE", options_->file, "names a profile in a format that `msleaks profile formats` lists; -: stdin")
        .required();
    addTextOptions(subcommand);
    return subcommand;
  }
  // Adds options for the disassembly of code, since a perf.data contains no instructions.
  void addTextOptions(CommandLine &subcommand) {
    subcommand
        .option("--objdump", options_->loading.perf.objdump,
                "names the program that disassembles the images of a perf.data")
        .valueName("PROGRAM");
    subcommand.flag("--no-text", options_->no_text,
                    "shows only the sampled addresses of a perf.data, without instructions");
  }
  ProfileOptions &options() { return *options_; }
  Action action() const {
    return [options = options_, chosen = chosen_] { return (*chosen)(*options); };
  }

private:
  CommandLine &line_;
  std::shared_ptr<ProfileOptions> options_;
  std::shared_ptr<Deed> chosen_;
};

void declareLntReport(Declaration &declaration) {
  ProfileOptions &options = declaration.options();
  CommandLine &report =
      declaration.addReading("report", "prints a JSON report for lnt submit, which contains the profile", showReport);
  report.option("--machine", options.machine, "sets the name of the machine in LNT [this machine's name]")
      .valueName("NAME");
  report.option("--machine-field", options.machine_fields, "adds a field about the machine for LNT; may be repeated")
      .valueName("NAME=VALUE");
  report.option("--order", options.order, "sets the field that orders runs [llvm_project_revision=TIME OF FILE]")
      .valueName("NAME=VALUE");
  report.option("--test", options.test, "sets the name of the test [nts.STEM OF FILE]").valueName("NAME");
  report
      .option("--metric", options.metrics,
              "adds a metric of the test; several values of one name are samples (docs/profiles.md names the "
              "metrics that are used without this option)")
      .valueName("NAME=VALUE");
}

void declareCompare(Declaration &declaration) {
  ProfileOptions &options = declaration.options();
  CommandLine &compared =
      declaration.add("compare", "shows two profiles side by side, by function and instruction", compare);
  compared.option("A", options.file, "names the first profile").required();
  compared.option("B", options.second, "names the second profile").required();
  compared.option("--counter", options.choice.counter, "compares by this counter [cycles, or else the first one]")
      .valueName("NAME");
  compared.option("--function", options.choice.function, "shows only this function, with all of its lines")
      .valueName("NAME");
  compared.option("--top", options.choice.top, "sets the number of functions shown [20; with --json all]")
      .valueName("N");
  compared.flag("--json", options.json, "prints a JSON object (docs/profiles.md)");
  declaration.addTextOptions(compared);
}

Action declareProfile(CommandLine &line) {
  Declaration declaration(line);
  ProfileOptions &options = declaration.options();
  declaration.addReading("counters", "prints the counters of the whole profile as JSON", showCounters);
  declaration.addReading("functions",
                         "prints the functions with their counters in percent and their number of lines, as JSON",
                         showFunctions);
  declaration.addReading("code", "prints the lines of one function or of all functions, as JSON", showCode)
      .option("FUNCTION", options.function, "names a function [all functions]");
  CommandLine &upgraded = declaration.addReading("upgrade", "writes a profile in LNT's format", upgrade);
  upgraded.option("OUT", options.output, "names the file to write (.lntprof)").required();
  CommandLine &exported =
      declaration.add("export", "writes the counters of a run (msleaks cfg) as a profile for LNT", exportCounts);
  exported.option("RUN", options.file, "names the folder of a run").required();
  exported.option("--lnt", options.output, "names the file to write (.lntprof)").valueName("FILE").required();
  declareLntReport(declaration);
  declareCompare(declaration);
  declaration.addReading("version", "prints which version of LNT's format the file has, as JSON", showVersion);
  declaration.addReading("disassembly-format", "prints the format of the lines' text, as JSON", showDisassemblyFormat);
  declaration.add("formats", "lists the formats that can be read",
                  [](ProfileOptions &) { return listProfileFormats(); });
  return declaration.action();
}

} // namespace

MSL_REGISTER_VERB(profile, "shows, compares and converts profiles of perf, LNT and LLVM", declareProfile)

} // namespace msleaks::tools
