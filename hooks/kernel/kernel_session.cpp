#include "kernel/kernel_session.h"

#include "kernel/bpf_object.h"
#include "kernel/own_namespace.h"
#include "kernel/record_slots.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace msleaks::kernel {
namespace {

// A collector of the session, with the object that does its work.
struct Loaded {
  const CollectorKind *kind = nullptr;
  analysis::KernelCollector status;
  std::unique_ptr<BpfObject> object; // null: no mechanism was accepted
};

Loaded load(const CollectorKind &kind, const Shared &shared) {
  Loaded loaded{
      &kind, {.name = std::string(kind.name), .state = "unavailable", .mechanism = {}, .reason = {}}, nullptr};
  if (kind.object.empty()) {
    loaded.status.state = "not-built";
    loaded.status.reason = "not-built";
    return loaded;
  }
  for (const Mechanism &mechanism : kind.mechanisms) {
    analysis::KernelRefusal refusal;
    loaded.object = BpfObject::load(kind, mechanism, shared, refusal);
    if (loaded.object) {
      loaded.status.state = mechanism.is_degraded ? "degraded" : "active";
      loaded.status.mechanism = mechanism.name;
      if (kind.has_producer != nullptr && !kind.has_producer())
        loaded.status.state = loaded.status.reason = "no-producer";
      break;
    }
    loaded.status.refusals.push_back(std::move(refusal));
  }
  if (loaded.status.state != "active" && loaded.status.reason.empty() && !loaded.status.refusals.empty()) {
    loaded.status.reason = loaded.status.refusals.front().reason;
    loaded.status.error = loaded.status.refusals.front().error;
  }
  return loaded;
}

// Without the processes nobody knows whose calls to record.
analysis::KernelCollector refusedLike(const analysis::KernelCollector &processes, const std::string &name) {
  analysis::KernelCollector status = processes;
  status.name = name;
  return status;
}

analysis::KernelCollector withAccount(const Loaded &loaded) {
  analysis::KernelCollector one = loaded.status;
  if (!loaded.object)
    return one;
  const Counts counts = loaded.object->counts();
  const auto closed = counts.delivered + counts.ring_full + counts.map_full;
  one.entered = counts.entered;
  one.delivered = counts.delivered;
  one.ring_full = counts.ring_full;
  one.map_full = counts.map_full;
  one.unreturned = counts.entered - std::min(counts.entered, closed);
  return one;
}

void chooseCalls(Settings &settings, const std::vector<uint32_t> &calls) {
  constexpr uint32_t kMost = kCallWords * 64;
  if (calls.empty())
    std::fill(std::begin(settings.calls), std::end(settings.calls), ~0ull);
  for (const uint32_t call : calls)
    if (call < kMost)
      settings.calls[call / 64] |= 1ull << call % 64;
}

class BpfSession final : public KernelSession {
public:
  explicit BpfSession(const Setup &);
  ~BpfSession() override { stop(); }

  size_t streams() const override { return running_.size(); }
  std::string_view nameOf(size_t stream) const override { return all_[running_[stream]].kind->name; }
  int wakeDescriptor(size_t stream) const override { return all_[running_[stream]].object->wakeDescriptor(); }
  void take(size_t stream, std::vector<abi::Slot> &slots) override;
  void keepOutChildren() override;
  void stop() override;
  std::vector<analysis::KernelCollector> collectors() const override;

private:
  void add(Loaded);

  std::vector<Loaded> all_;     // the first one follows the processes
  std::vector<size_t> running_; // those with an object
};

// The processes are followed before anything else is attached, and the collectors share their map.
BpfSession::BpfSession(const Setup &setup) {
  Shared shared;
  shared.ring_bytes = setup.ring_bytes;
  shared.settings.wake_bytes = setup.ring_bytes / 16;
  const long processors = sysconf(_SC_NPROCESSORS_CONF);
  shared.settings.cpus = processors > 0 ? static_cast<unsigned>(processors) : 1;
  describeNamespace(shared.settings);
  add(load(processesKind(), shared));
  const analysis::KernelCollector processes = all_.front().status;
  if (all_.front().object) {
    shared.followed = all_.front().object->mapOf("followed");
    all_.front().object->setRoot(setup.root);
  }
  for (const Request &request : setup.requests) {
    const CollectorKind *kind = kindOf(request.name);
    if (kind == nullptr)
      continue;
    Shared own = shared;
    chooseCalls(own.settings, request.calls);
    if (processes.isUsable())
      add(load(*kind, own));
    else
      add({kind, refusedLike(processes, request.name), nullptr});
  }
}

void BpfSession::add(Loaded loaded) {
  if (loaded.object)
    running_.push_back(all_.size());
  all_.push_back(std::move(loaded));
}

void BpfSession::take(size_t stream, std::vector<abi::Slot> &slots) {
  all_[running_[stream]].object->consume(
      [&slots](const RecordHead &head, size_t bytes) { appendEvents(head, bytes, slots); });
}

void BpfSession::keepOutChildren() {
  if (all_.front().object)
    all_.front().object->setRoot(0);
}

void BpfSession::stop() {
  for (auto loaded = all_.rbegin(); loaded != all_.rend(); ++loaded)
    if (loaded->object)
      loaded->object->detach();
}

std::vector<analysis::KernelCollector> BpfSession::collectors() const {
  std::vector<analysis::KernelCollector> all;
  for (const Loaded &loaded : all_)
    all.push_back(withAccount(loaded));
  if (all.front().map_full + all.front().ring_full == 0) // the processes are shown only if some were lost
    all.erase(all.begin());
  return all;
}

} // namespace

std::unique_ptr<KernelSession> KernelSession::start(const Setup &setup) { return std::make_unique<BpfSession>(setup); }

} // namespace msleaks::kernel
