// Reads the graphs of a run, with the counts of all its processes added up by function.
#pragma once

#include "analysis/counts/edge_counts.h"
#include "msleaks/abi/counts_file.h"

#include <filesystem>

namespace msleaks::analysis::inline counts {

struct CountedFunction {
  Graph graph;
  std::string name; // the demangled name
  FunctionCounts counts;
  Sample sample;                              // the share of a device's threads that counted
  std::vector<abi::CountedLaunches> launches; // for a kernel: its launches by shape and mode
};

// Returns the number of instructions that ran. Blocks without a known count add 0.
uint64_t instructionsRun(const CountedFunction &function, size_t block);
uint64_t instructionsRun(const CountedFunction &function);

// Returns the functions in the order of their names. Functions with equal names, files and graphs become one function.
// BadInput: the run counted nothing, or one of its files is damaged.
Result<std::vector<CountedFunction>> graphsOfRun(const std::filesystem::path &run);

// Returns the time at which the run last wrote counts.
std::optional<std::filesystem::file_time_type> countedAt(const std::filesystem::path &run);

// Writes an array with one object for each function (docs/kernel-graphs.md).
void writeGraphsJson(std::ostream &to, std::span<const CountedFunction> functions);
// Returns one object of this array, on one line.
std::string graphJson(const CountedFunction &function);
// Writes one graph for each function, for Graphviz.
void writeGraphsDot(std::ostream &to, std::span<const CountedFunction> functions);
// Writes a table for people, with the functions in which most instructions ran.
void writeGraphsText(std::ostream &to, std::span<const CountedFunction> functions);

} // namespace msleaks::analysis::inline counts
