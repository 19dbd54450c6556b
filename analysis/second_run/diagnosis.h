// The memory functions of a library that msleaks does not see, with reason and remedy.
#pragma once

#include "analysis/second_run/process_view.h"
#include "analysis/second_run/reasons.h"
#include "analysis/second_run/vocabulary.h"

#include <set>
#include <string>
#include <vector>

namespace msleaks::analysis::inline second_run {

struct LibraryDiagnosis {
  std::string path;
  Role role{};
  bool is_program = false;
  bool is_instrumented = false;
  std::set<std::string> pass, llvm; // versions
  std::string allocator;            // that it holds; empty: none that is known
  std::set<std::string> traits;     // names of kinds (reasons.def): what keeps hooks away, be it recorded or not
  std::set<std::string> hooked;
  std::set<UnseenFunction> unseen;
  std::set<std::string> notes;

  // The same library in another process, or at another time.
  void add(const LibraryDiagnosis &);
};

// Which symbols of a file the diagnosis needs.
NameFilter wantedNames(const HookedSymbols &);

// Covers all images except our own and the kernel's.
std::vector<LibraryDiagnosis> diagnose(const ProcessView &, const HookedSymbols &);

} // namespace msleaks::analysis::inline second_run
