// The table of collectors: the object of each, and its mechanisms in the order in which they are tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace msleaks::kernel {

// A program of an object. `perf_events`: the software events of perf that it runs at, on every processor; else it is
// attached where its section says. A program that only a test runs (BPF_PROG_TEST_RUN) is attached nowhere.
struct Program {
  const char *name;
  std::vector<uint64_t> perf_events = {};
  bool is_attached = true;
};

// Programs of an object that do a collector's work together: all of them must be accepted.
struct Mechanism {
  std::string_view name;
  std::vector<Program> programs;
  bool is_degraded = false; // it sees less than the first mechanism
};

struct CollectorKind {
  std::string_view name;
  std::span<const std::byte> object; // empty: it has no program in the kernel
  std::vector<Mechanism> mechanisms;
  bool (*has_producer)() = nullptr; // whether something on this machine makes such events; null: always
};

// Follows the processes. Every session has it.
const CollectorKind &processesKind();
// Returns null for an unknown name.
const CollectorKind *kindOf(std::string_view name);

} // namespace msleaks::kernel
