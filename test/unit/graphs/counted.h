// Provides small control flow graphs with counts for tests.
#pragma once

#include "analysis/counts/run_graphs.h"

#include <initializer_list>
#include <string>
#include <utility>

namespace msleaks::analysis::test {

// Returns a function with one basic block for each count. Each block leads to the next one, and has two instructions.
// Basic block n is in line 9 + n.
inline CountedFunction counted(std::string symbol, std::string file, uint64_t hash,
                               std::initializer_list<uint64_t> counts) {
  CountedFunction function;
  function.name = symbol + "()";
  function.graph.symbol = std::move(symbol);
  function.graph.file = std::move(file);
  function.graph.line = 9;
  function.graph.hash = hash;
  for (const uint64_t count : counts) {
    GraphBlock block;
    block.file = function.graph.file;
    block.line = static_cast<uint32_t>(10 + function.graph.blocks.size());
    block.facts.integers = block.facts.branches = 1;
    if (const auto number = static_cast<uint32_t>(function.graph.blocks.size()); number > 0) {
      function.graph.edges.push_back({.from = number, .to = number + 1, .kind = abi::EdgeKind::Branch});
      function.counts.edges.push_back({CountState::Measured, count});
    }
    function.graph.blocks.push_back(block);
    function.counts.blocks.push_back(count);
  }
  function.counts.calls = counts.size() ? *counts.begin() : 0;
  return function;
}

} // namespace msleaks::analysis::test
