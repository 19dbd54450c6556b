#include "analysis/counts/run_graphs.h"
#include "msleaks/abi/flags.h"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ostream>

namespace msleaks::analysis::inline counts {
namespace {

using Json = nlohmann::ordered_json;

const char *modeOf(const abi::CountedLaunches &launches) { return nameOf(static_cast<abi::CountMode>(launches.mode)); }

constexpr const char *kKinds[] = {"enter", "branch", "switch", "default", "indirect", "unwind", "exit", "leave"};

Json numberOrNull(const std::optional<uint64_t> &number) { return number ? Json(*number) : Json(); }

Json jsonOf(const GraphBlock &block, size_t id, const std::optional<uint64_t> &count) {
  const abi::GraphBlock &facts = block.facts;
  Json json = {{"id", id},
               {"file", block.file},
               {"line", block.line},
               {"depth", facts.depth},
               {"instructions", instructionsOf(block)},
               {"classes",
                {{"integer", facts.integers},
                 {"float", facts.floats},
                 {"load", facts.loads},
                 {"store", facts.stores},
                 {"call", facts.calls},
                 {"branch", facts.branches},
                 {"other", facts.others}}},
               {"loaded_bytes", facts.loaded_bytes},
               {"stored_bytes", facts.stored_bytes},
               {"count", numberOrNull(count)}};
  if (!block.text.empty())
    json["ir"] = block.text;
  return json;
}

Json errorOf(const EdgeCount &count) {
  if (count.error)
    return Json(std::llround(*count.error));
  return count.count && count.state != CountState::Estimated ? Json(0) : Json();
}

Json jsonOf(const GraphEdge &edge, const EdgeCount &count) {
  Json json = {{"name", nameOf(edge)},
               {"from", edge.from},
               {"to", edge.to},
               {"kind", kKinds[static_cast<size_t>(edge.kind)]},
               {"count", numberOrNull(count.count)},
               {"state", nameOf(count.state)},
               {"error", errorOf(count)}};
  if (edge.kind == abi::EdgeKind::Switch)
    json["value"] = edge.value;
  return json;
}

Json jsonOf(const abi::CountedLaunches &launches) {
  return {{"grid", launches.grid},
          {"block", launches.block},
          {"mode", modeOf(launches)},
          {"launches", launches.launches},
          {"counted", launches.counted},
          {"threads", launches.threads},
          {"counted_threads", launches.counted_threads}};
}

Json jsonOf(const abi::GraphArgument &argument, size_t number) {
  const bool reads = (argument.uses & abi::kReads) != 0, writes = (argument.uses & abi::kWrites) != 0;
  Json json = {{"number", number}, {"reads", reads}, {"writes", writes}};
  json["begin"] = argument.begin != argument.end ? Json(argument.begin) : Json();
  json["end"] = argument.begin != argument.end ? Json(argument.end) : Json();
  return json;
}

Json jsonOf(const CountedFunction &function) {
  const Graph &graph = function.graph;
  Json blocks = Json::array(), edges = Json::array(), launches = Json::array(), arguments = Json::array();
  for (size_t i = 0; i < graph.arguments.size(); ++i)
    if ((graph.arguments[i].uses & abi::kIsAddress) != 0)
      arguments.push_back(jsonOf(graph.arguments[i], i));
  for (const abi::CountedLaunches &row : function.launches)
    launches.push_back(jsonOf(row));
  for (size_t i = 0; i < graph.blocks.size(); ++i)
    blocks.push_back(jsonOf(graph.blocks[i], i + 1, function.counts.blocks[i]));
  for (size_t i = 0; i < graph.edges.size(); ++i)
    if (graph.edges[i].isInside())
      edges.push_back(jsonOf(graph.edges[i], function.counts.edges[i]));
  return {{"function", function.name},
          {"symbol", graph.symbol},
          {"file", graph.file},
          {"line", graph.line},
          {"hash", fmt::format("{:016x}", graph.hash)},
          {"calls", numberOrNull(function.counts.calls)},
          {"blocks", std::move(blocks)},
          {"edges", std::move(edges)},
          {"counters", countersOf(graph)},
          {"launches", std::move(launches)},
          {"arguments", std::move(arguments)},
          {"uses_other_memory", graph.uses_others},
          {"mode", function.launches.empty() ? "full" : modeOf(function.launches.front())},
          {"threads", function.sample.launched},
          {"sampled_threads", function.sample.sampled},
          {"scale", function.sample.scale()}};
}

} // namespace

std::string graphJson(const CountedFunction &function) {
  return jsonOf(function).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void writeGraphsJson(std::ostream &to, std::span<const CountedFunction> functions) {
  to << '[';
  const char *separator = "\n";
  for (const CountedFunction &function : functions) {
    to << separator << graphJson(function);
    separator = ",\n";
  }
  to << "\n]\n";
}

} // namespace msleaks::analysis::inline counts
