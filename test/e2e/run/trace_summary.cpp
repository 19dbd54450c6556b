// Usage: trace_summary TRACE. Prints a summary of a trace as JSON, for tests: the processes, and the streams with their
// numbers of events. Also checks that no allocation of programs/churn.c is missing. The sizes of its allocations are
// consecutive.
#include "analysis/trace/trace_reader.h"

#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace {

using namespace msleaks;

struct StreamCheck {
  uint64_t stored = 0;
  uint64_t next = 0; // number of the next expected allocation
  bool in_sequence = true;
  void take(const abi::AnyEvent &event) {
    ++stored;
    if (event.header().kind != abi::EventKind::Alloc)
      return;
    constexpr uint64_t kFirst = 1000, kSizes = 5000;
    const uint64_t size = event.as<abi::AllocEvent>().size;
    in_sequence = in_sequence && size == kFirst + next % kSizes;
    ++next;
  }
};

int summarize(const char *file) {
  const auto reader = analysis::TraceReader::open(file);
  if (!reader) {
    fmt::print(stderr, "{}\n", reader.error().message);
    return 3;
  }
  std::map<std::pair<uint32_t, uint32_t>, StreamCheck> checks;
  const auto read = reader->forEachEvent([&](const analysis::StreamEvent &event) {
    checks[{event.process, event.stream}].take(event.event);
    return true;
  });
  if (!read) {
    fmt::print(stderr, "{}\n", read.error().message);
    return 3;
  }
  std::map<std::pair<uint32_t, uint32_t>, analysis::StreamAccount> accounts; // by process and stream
  reader->forEachAccount(
      [&](const analysis::StreamAccount &account) { accounts[{account.process, account.stream}] = account; });
  nlohmann::json summary{{"closed", reader->closed()},
                         {"damage", reader->damage()},
                         {"processes", nlohmann::json::array()},
                         {"streams", nlohmann::json::array()}};
  uint64_t dropped_no_ring = 0;
  for (const auto &end : reader->processEnds())
    dropped_no_ring += end.dropped_no_ring;
  summary["dropped_no_ring"] = dropped_no_ring;
  for (const auto &process : reader->processes())
    summary["processes"].push_back({{"process", process.process}, {"pid", process.pid}, {"command", process.command}});
  for (const auto &[key, account] : accounts) {
    const StreamCheck &check = checks[{account.process, account.stream}];
    summary["streams"].push_back({{"process", account.process},
                                  {"stream", account.stream},
                                  {"thread", account.thread_name},
                                  {"produced", account.produced},
                                  {"stored", check.stored},
                                  {"dropped", account.dropped},
                                  {"stalled_ns", account.stalled_ns},
                                  {"in_sequence", check.in_sequence}});
  }
  // A thread's name may contain bytes that are not UTF-8.
  fmt::print("{}\n", summary.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: trace_summary TRACE\n");
    return 2;
  }
  return summarize(argv[1]);
}
