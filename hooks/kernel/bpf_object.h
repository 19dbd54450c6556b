// One BPF object that is loaded into the kernel, with its ring and its counts.
#pragma once

#include "analysis/base/kernel_collector.h"
#include "kernel/collector_kinds.h"
#include "kernel/records.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

struct bpf_link;
struct bpf_map;
struct bpf_object;
struct bpf_program;
struct ring_buffer;

namespace msleaks::kernel {

// The objects of a session share these values.
struct Shared {
  Settings settings{};
  uint64_t ring_bytes = 0;
  int followed = -1; // the map of followed processes; -1 = this object makes it
};

class BpfObject {
public:
  // Loads the object with the programs of one mechanism, and attaches them. Returns null and sets the refusal if the
  // kernel refuses any of them.
  static std::unique_ptr<BpfObject> load(const CollectorKind &, const Mechanism &, const Shared &,
                                         analysis::KernelRefusal &);
  ~BpfObject();
  BpfObject(const BpfObject &) = delete;
  BpfObject &operator=(const BpfObject &) = delete;

  // The descriptor of a map of the object, or -1.
  int mapOf(const char *name) const;
  // The descriptor of a program of the object, or -1.
  int programOf(const char *name) const;
  int wakeDescriptor() const { return mapOf("ring"); }
  // Calls the function for the records that are waiting in the ring, up to a limit. Skips records of another version.
  void consume(const std::function<void(const RecordHead &, size_t bytes)> &);
  // The object that follows processes follows the children of this process. 0 = nobody's.
  void setRoot(uint32_t pid);
  void detach();
  Counts counts() const;

private:
  BpfObject() = default;
  int open(const CollectorKind &, const Mechanism &, const Shared &);
  int attach(const Mechanism &);
  int attachToPerf(bpf_program *, uint64_t event);
  static int onRecord(void *self, void *record, size_t bytes);

  bpf_object *object_ = nullptr;
  ring_buffer *ring_ = nullptr;
  std::vector<bpf_link *> links_;
  const std::function<void(const RecordHead &, size_t)> *receiver_ = nullptr;
  uint64_t taken_ = 0;
};

} // namespace msleaks::kernel
