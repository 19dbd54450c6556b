// The verb `msleaks doctor` (docs/doctor.md). It runs a program with the hooks, which record nothing. Then it lists for
// each library which functions a recording would not see.
#pragma once

#include "analysis/second_run/diagnosis.h"

#include <ostream>
#include <string>
#include <vector>

namespace msleaks::analysis::inline second_run {

struct DoctorRun {
  std::vector<std::string> command;
  std::vector<std::string> hooks; // hook libraries of the user
};

struct DoctorAnswer {
  std::vector<LibraryDiagnosis> libraries; // programs first, libraries of the system last
  size_t processes = 0;
  size_t missed = 0;   // processes that ended before their libraries could be read
  int exit_status = 0; // exit status of the program, as a shell reports it

  bool sawAll() const;
};

// Redirects the output of the program to stderr.
Result<DoctorAnswer> examine(const DoctorRun &);

void writeDoctorJson(std::ostream &, const DoctorAnswer &);
void writeDoctorText(std::ostream &, const DoctorAnswer &, size_t columns);

} // namespace msleaks::analysis::inline second_run
