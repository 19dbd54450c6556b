#include "kernel/collector_kinds.h"

#include "kernel/kernel_session.h"
#include "kernel/objects.h"

#include <algorithm>
#include <linux/perf_event.h>
#include <unistd.h>

namespace msleaks::kernel {
namespace {

// Only drivers of this class make fences (dma_fence) that a program waits for.
bool hasGraphics() { return access("/dev/dri", F_OK) == 0; }

const std::vector<CollectorKind> &kinds() {
  static const std::vector<CollectorKind> kAll = {
      {"syscalls",
       objects::syscalls(),
       {{"tp_btf", {{"enter_btf"}, {"exit_btf"}, {"end_btf"}}},
        {"raw_tp", {{"enter_raw"}, {"exit_raw"}, {"end_raw"}}}}},
      {"pci", objects::pci(), {{"tp_btf", {{"enter_btf"}, {"exit_btf"}, {"end_btf"}}}}},
      {"fence",
       objects::fence(),
       {{"tp_btf", {{"emit_btf"}, {"signal_btf"}, {"destroy_btf"}, {"wait_start_btf"}, {"wait_end_btf"}}}},
       hasGraphics},
      {"sched", objects::sched(), {{"tp_btf", {{"switch_btf"}, {"waking_btf"}}}}},
      {"faults",
       objects::faults(),
       {{"tp_btf+perf",
         {{"begin_btf"}, {"end_of_fault", {PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_PAGE_FAULTS_MAJ}}}},
        {"tp_btf", {{"moment_btf"}}, true}}},
      {"block", objects::block(), {{"tp_btf", {{"queue_btf"}, {"issue_btf"}, {"complete_btf"}}}}},
  };
  return kAll;
}

} // namespace

const CollectorKind &processesKind() {
  static const CollectorKind kProcesses = {
      "processes",
      objects::processes(),
      {{"tp_btf", {{"fork_btf"}, {"exec_btf"}, {"exit_btf"}}}, {"raw_tp", {{"fork_raw"}, {"exec_raw"}, {"exit_raw"}}}}};
  return kProcesses;
}

const CollectorKind *kindOf(std::string_view name) {
  const auto found =
      std::find_if(kinds().begin(), kinds().end(), [name](const CollectorKind &kind) { return kind.name == name; });
  return found == kinds().end() ? nullptr : &*found;
}

const std::vector<std::string_view> &collectorNames() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const CollectorKind &kind : kinds())
      names.push_back(kind.name);
    return names;
  }();
  return kNames;
}

} // namespace msleaks::kernel
