// msleaks doctor: a program runs with the hooks, which record nothing then, and of each library that it loads it is
// said what a recording would not see (docs/doctor.md).
#pragma once

#include "analysis/second_run/diagnosis.h"

#include <ostream>
#include <string>
#include <vector>

namespace msleaks::analysis::inline second_run {

struct DoctorRun {
  std::vector<std::string> command;
  std::vector<std::string> hooks; // libraries with hooks of the user's own
};

struct DoctorAnswer {
  std::vector<LibraryDiagnosis> libraries; // programs first, those of the system last
  size_t processes = 0;
  size_t missed = 0;   // processes that ended before anybody could look
  int exit_status = 0; // of the program, as a shell has it

  bool sawAll() const;
};

// What the program prints goes to stderr.
Result<DoctorAnswer> examine(const DoctorRun &);

void writeDoctorJson(std::ostream &, const DoctorAnswer &);
void writeDoctorText(std::ostream &, const DoctorAnswer &, size_t columns);

} // namespace msleaks::analysis::inline second_run
