#include "kernel/bpf_object.h"

#include "kernel/refusal_reason.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>
#include <cstring>
#include <linux/perf_event.h>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

namespace msleaks::kernel {
namespace {

// libbpf reads until the ring is empty, and a busy program could fill it for ever.
constexpr uint64_t kMostAtOnce = 1 << 16;

// The map that contains the constants of an object.
bpf_map *constantsOf(bpf_object *object) {
  bpf_map *map = nullptr;
  bpf_object__for_each_map(map, object) {
    if (std::string_view(bpf_map__name(map)).ends_with(".rodata"))
      return map;
  }
  return nullptr;
}

int setConstants(bpf_object *object, const Settings &settings) {
  size_t bytes = 0;
  bpf_map *map = constantsOf(object);
  const void *constants = map != nullptr ? bpf_map__initial_value(map, &bytes) : nullptr;
  if (constants == nullptr || bytes < sizeof settings)
    return -EINVAL;
  const auto *begin = static_cast<const char *>(constants);
  std::vector<char> changed(begin, begin + bytes);
  std::memcpy(changed.data(), &settings, sizeof settings);
  return bpf_map__set_initial_value(map, changed.data(), bytes);
}

} // namespace

std::unique_ptr<BpfObject> BpfObject::load(const CollectorKind &kind, const Mechanism &mechanism, const Shared &shared,
                                           analysis::KernelRefusal &refusal) {
  libbpf_set_print(nullptr); // its hints are about other causes than the usual ones
  std::unique_ptr<BpfObject> loaded(new BpfObject);
  int error = loaded->open(kind, mechanism, shared);
  if (error == 0)
    error = loaded->attach(mechanism);
  if (error == 0)
    return loaded;
  refusal = {std::string(mechanism.name), reasonOf(mechanism.name, -error), -error};
  return nullptr;
}

int BpfObject::open(const CollectorKind &kind, const Mechanism &mechanism, const Shared &shared) {
  LIBBPF_OPTS(bpf_object_open_opts, options);
  const std::string name(kind.name);
  options.object_name = name.c_str();
  object_ = bpf_object__open_mem(kind.object.data(), kind.object.size(), &options);
  if (object_ == nullptr)
    return -errno;
  for (const Program &program : mechanism.programs) {
    bpf_program *found = bpf_object__find_program_by_name(object_, program.name);
    if (found == nullptr)
      return -ENOENT;
    bpf_program__set_autoload(found, true);
  }
  if (const int error = setConstants(object_, shared.settings); error != 0)
    return error;
  if (bpf_map *ring = bpf_object__find_map_by_name(object_, "ring"))
    if (const int error = bpf_map__set_max_entries(ring, static_cast<uint32_t>(shared.ring_bytes)); error != 0)
      return error;
  bpf_map *followed = bpf_object__find_map_by_name(object_, "followed");
  if (followed != nullptr && shared.followed >= 0)
    if (const int error = bpf_map__reuse_fd(followed, shared.followed); error != 0)
      return error;
  if (const int error = bpf_object__load(object_); error != 0)
    return error;
  ring_ = ring_buffer__new(mapOf("ring"), onRecord, this, nullptr);
  return ring_ != nullptr ? 0 : -errno;
}

int BpfObject::attach(const Mechanism &mechanism) {
  for (const Program &program : mechanism.programs) {
    bpf_program *found = bpf_object__find_program_by_name(object_, program.name);
    for (const uint64_t event : program.perf_events)
      if (const int error = attachToPerf(found, event); error != 0)
        return error;
    if (!program.perf_events.empty() || !program.is_attached)
      continue;
    bpf_link *link = bpf_program__attach(found);
    if (link == nullptr)
      return -errno;
    links_.push_back(link);
  }
  return 0;
}

// Runs the program at each event, on every processor that is switched on.
int BpfObject::attachToPerf(bpf_program *program, uint64_t event) {
  perf_event_attr wanted{};
  wanted.type = PERF_TYPE_SOFTWARE;
  wanted.size = sizeof wanted;
  wanted.config = event;
  wanted.sample_period = 1;
  const int processors = libbpf_num_possible_cpus();
  for (int processor = 0; processor < processors; ++processor) {
    const auto opened =
        static_cast<int>(syscall(SYS_perf_event_open, &wanted, -1, processor, -1, PERF_FLAG_FD_CLOEXEC));
    if (opened < 0 && errno == ENODEV)
      continue;
    if (opened < 0)
      return -errno;
    bpf_link *link = bpf_program__attach_perf_event(program, opened);
    const int error = errno;
    if (link == nullptr) {
      close(opened);
      return -error;
    }
    links_.push_back(link); // closes the event
  }
  return 0;
}

BpfObject::~BpfObject() {
  detach();
  if (ring_ != nullptr)
    ring_buffer__free(ring_);
  bpf_object__close(object_);
}

void BpfObject::detach() {
  for (bpf_link *link : links_)
    bpf_link__destroy(link);
  links_.clear();
}

int BpfObject::programOf(const char *name) const {
  const bpf_program *found = bpf_object__find_program_by_name(object_, name);
  return found != nullptr ? bpf_program__fd(found) : -1;
}

void BpfObject::setRoot(uint32_t pid) {
  const uint32_t first = 0;
  bpf_map_update_elem(mapOf("root"), &first, &pid, BPF_ANY);
}

int BpfObject::mapOf(const char *name) const { return bpf_object__find_map_fd_by_name(object_, name); }

int BpfObject::onRecord(void *self, void *record, size_t bytes) {
  auto *object = static_cast<BpfObject *>(self);
  const auto *head = static_cast<const RecordHead *>(record);
  if (bytes >= sizeof *head && head->version == kRecordVersion)
    (*object->receiver_)(*head, bytes);
  return ++object->taken_ < kMostAtOnce ? 0 : -ENOBUFS;
}

void BpfObject::consume(const std::function<void(const RecordHead &, size_t)> &receiver) {
  receiver_ = &receiver;
  taken_ = 0;
  ring_buffer__consume(ring_);
  receiver_ = nullptr;
}

Counts BpfObject::counts() const {
  const int processors = libbpf_num_possible_cpus();
  Counts sum{};
  if (processors <= 0)
    return sum;
  std::vector<Counts> each(static_cast<size_t>(processors));
  const uint32_t first = 0;
  if (bpf_map_lookup_elem(mapOf("counts"), &first, each.data()) != 0)
    return sum;
  for (const Counts &count : each) {
    sum.entered += count.entered;
    sum.delivered += count.delivered;
    sum.ring_full += count.ring_full;
    sum.map_full += count.map_full;
    sum.unreturned += count.unreturned;
    sum.unseen += count.unseen;
  }
  return sum;
}

} // namespace msleaks::kernel
