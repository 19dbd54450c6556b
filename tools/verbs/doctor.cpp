// msleaks doctor -- program…: shows for each library of a program which memory a recording would not contain.
#include "analysis/second_run/doctor.h"
#include "analysis/base/terminal.h"
#include "verb.h"

#include <iostream>
#include <memory>
#include <unistd.h>

namespace msleaks::tools {
namespace {

struct DoctorOptions {
  analysis::DoctorRun run;
  bool json = false;
};

Result<ExitStatus> examine(const DoctorOptions &options) {
  const auto answer = MSL_TRY(analysis::examine(options.run));
  if (options.json)
    analysis::writeDoctorJson(std::cout, answer);
  else
    analysis::writeDoctorText(std::cout, answer, analysis::outputColumns(STDOUT_FILENO));
  return answer.sawAll() ? ExitStatus::Clean : ExitStatus::Findings;
}

Action declareDoctor(CommandLine &line) {
  const auto options = std::make_shared<DoctorOptions>();
  line.option("PROGRAM", options->run.command, "is the program with its arguments, after --").required();
  line.option("--hooks", options->run.hooks, "loads a library with hooks of your own (docs/hooks.md); may be repeated")
      .oneAtATime();
  line.flag("--json", options->json, "prints a JSON list (docs/doctor.md)");
  return [options] { return examine(*options); };
}

} // namespace

MSL_REGISTER_VERB(doctor, "runs a program and shows which of its memory cannot be recorded, why, and what to do",
                  declareDoctor)

} // namespace msleaks::tools
