// The graphs of a run: all that its processes counted, added up by function.
#pragma once

#include "analysis/counts/edge_counts.h"
#include "msleaks/abi/counts_file.h"

#include <filesystem>

namespace msleaks::analysis::inline counts {

struct CountedFunction {
  Graph graph;
  std::string name; // demangled
  FunctionCounts counts;
  Sample sample;                              // the threads of a device that counted
  std::vector<abi::CountedLaunches> launches; // of a kernel, by shape and mode
};

// That ran: of a block whose count is not known, none.
uint64_t instructionsRun(const CountedFunction &function, size_t block);
uint64_t instructionsRun(const CountedFunction &function);

// In the order of their names. Functions of one name are one where their files and graphs are the same. BadInput:
// nothing was counted in the run, or a file of it is damaged.
Result<std::vector<CountedFunction>> graphsOfRun(const std::filesystem::path &run);

// When the run last wrote counts down.
std::optional<std::filesystem::file_time_type> countedAt(const std::filesystem::path &run);

// An array of objects, one a function (docs/kernel-graphs.md).
void writeGraphsJson(std::ostream &to, std::span<const CountedFunction> functions);
// One object of it, on one line.
std::string graphJson(const CountedFunction &function);
// A graph for Graphviz, one a function.
void writeGraphsDot(std::ostream &to, std::span<const CountedFunction> functions);
// A table for people: the functions in which most instructions ran.
void writeGraphsText(std::ostream &to, std::span<const CountedFunction> functions);

} // namespace msleaks::analysis::inline counts
