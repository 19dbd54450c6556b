// Finds the memory functions of a library that msleaks does not see, with reasons and remedies.
#pragma once

#include "analysis/second_run/driver_functions.h"
#include "analysis/second_run/process_view.h"
#include "analysis/second_run/reasons.h"
#include "analysis/second_run/vocabulary.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace msleaks::analysis::inline second_run {

struct LibraryDiagnosis {
  std::string path;
  Role role{};
  bool is_program = false;
  bool is_instrumented = false;
  std::set<std::string> pass, llvm; // versions of the pass and of LLVM
  std::string allocator;            // the allocator in the library; empty: no known allocator
  std::set<std::string> traits;     // names of reasons (reasons.def) that keep hooks away, also if calls are recorded
  std::set<std::string> hooked;
  std::set<UnseenFunction> unseen;
  std::set<std::string> notes;
  std::optional<DriverFunctions> driver; // the functions of a driver's library

  // Adds the diagnosis of the same library in another process or at another time.
  void add(const LibraryDiagnosis &);
};

// Returns a filter for the symbols of a file that the diagnosis needs.
NameFilter wantedNames(const HookedSymbols &);

// Examines all images except our own and the kernel's.
std::vector<LibraryDiagnosis> diagnose(const ProcessView &, const HookedSymbols &);

} // namespace msleaks::analysis::inline second_run
