// massif: the memory over time, and the call paths at the peak, for ms_print and other viewers of Valgrind's Massif
// (docs/formats.md).
#include "analysis/base/session_time.h"
#include "analysis/exporters/path_exporter.h"
#include "analysis/exporters/registry.h"

#include <algorithm>
#include <map>
#include <ostream>

namespace msleaks::analysis::inline exporters {
namespace {

// A number sign begins a comment of the format.
std::string withoutComment(std::string text) {
  for (size_t at = 0; (at = text.find('#', at)) != std::string::npos;)
    text.replace(at, 1, "\\x23");
  return text;
}

// Blocks by path. The children of a node are the callers of its function.
class CallerTree {
public:
  void add(const PathBlocks &blocks) {
    bytes_ += blocks.bytes;
    Node *node = &root_;
    for (const SiteText *call : blocks.calls)
      for (const PathFrame &frame : framesOf(*call)) {
        node = &node->callers[{call->offset, frame.text()}];
        node->bytes += blocks.bytes;
      }
  }
  void write(std::ostream &out) const {
    out << fmt::format("n{}: {} (all allocation functions)\n", root_.callers.size(), bytes_);
    writeCallers(root_, 1, out);
  }

private:
  struct Node {
    uint64_t bytes = 0;
    std::map<std::pair<uint64_t, std::string>, Node> callers;
  };
  // A path has at most some hundred calls, so the recursion is bounded.
  static void writeCallers(const Node &node, size_t depth, std::ostream &out) {
    using Entry = const std::pair<const std::pair<uint64_t, std::string>, Node> *;
    std::vector<Entry> sorted;
    for (const auto &entry : node.callers)
      sorted.push_back(&entry);
    std::ranges::stable_sort(sorted, std::ranges::greater(), [](Entry entry) { return entry->second.bytes; });
    for (const Entry entry : sorted) {
      const auto &[call, caller] = *entry;
      out << fmt::format("{:>{}}n{}: {} 0x{:X}: {}\n", "", depth, caller.callers.size(), caller.bytes, call.first,
                         withoutComment(call.second));
      writeCallers(caller, depth + 1, out);
    }
  }

  Node root_;
  uint64_t bytes_ = 0;
};

const Series::Curve *totalOf(const Report &report) {
  for (const Series::Curve &curve : report.series->curves)
    if (curve.by == "total")
      return &curve;
  return nullptr;
}

struct Snapshot {
  uint64_t time_ns = 0, bytes = 0;
  bool is_peak = false;
};

// Returns the moments of the series, and the peak. Before the first one, the session starts without memory.
std::vector<Snapshot> snapshotsOf(const Report &report) {
  const uint64_t peak_ns = sinceStart(report.peak.time_ns, report.start_ns);
  std::vector<Snapshot> list{{0, 0, false}};
  bool has_peak = false;
  if (const Series::Curve *total = totalOf(report))
    for (size_t i = 0; i < total->bytes.size(); ++i) {
      const bool is_peak = !has_peak && total->bytes[i] == report.peak.bytes;
      has_peak |= is_peak;
      list.push_back({report.series->moments[i], total->bytes[i], is_peak});
    }
  if (!has_peak) {
    const auto later = [&](const Snapshot &snapshot) { return snapshot.time_ns > peak_ns; };
    list.insert(std::ranges::find_if(list, later), {peak_ns, report.peak.bytes, true});
  }
  return list;
}

std::string millisecondsOf(uint64_t time_ns) {
  constexpr uint64_t kNsPerMs = 1'000'000;
  return fmt::format("{}.{:06}", time_ns / kNsPerMs, time_ns % kNsPerMs);
}

class MassifExporter final : public ReportExporter {
public:
  bool hasMoments() const override { return false; }
  bool hasLeaks() const override { return false; }
  bool listsDamage() const override { return false; }
  void ask(ReportQuestion &question) const override { question.wants_series = true; }
  void write(const Report &report, std::ostream &out) override {
    out << "desc: (none)\ncmd: " << withoutComment(commandOf(report)) << "\ntime_unit: ms\n";
    size_t number = 0;
    for (const Snapshot &snapshot : snapshotsOf(report)) {
      out << fmt::format("#-----------\nsnapshot={}\n#-----------\ntime={}\nmem_heap_B={}\nmem_heap_extra_B=0\n"
                         "mem_stacks_B=0\nheap_tree={}\n",
                         number++, millisecondsOf(snapshot.time_ns), snapshot.bytes,
                         snapshot.is_peak ? "peak" : "empty");
      if (snapshot.is_peak)
        writeTree(report, out);
    }
  }

private:
  static void writeTree(const Report &report, std::ostream &out) {
    CallerTree tree;
    for (const PathBlocks &blocks : pathsOf(report, Blocks::Peak))
      tree.add(blocks);
    tree.write(out);
  }
};

} // namespace

MSL_REGISTER_EXPORTER(massif, "memory over time, and call paths at the peak, for ms_print", MassifExporter)

} // namespace msleaks::analysis::inline exporters
