// The session of an msleaks that was built without libbpf, or without a compiler for BPF.
#include "kernel/kernel_session.h"

namespace msleaks::kernel {
namespace {

class AbsentSession final : public KernelSession {
public:
  explicit AbsentSession(const Setup &setup) {
    for (const Request &request : setup.requests)
      collectors_.push_back({.name = request.name, .state = "not-built", .mechanism = {}, .reason = "not-built"});
  }
  size_t streams() const override { return 0; }
  std::string_view nameOf(size_t) const override { return {}; }
  int wakeDescriptor(size_t) const override { return -1; }
  void take(size_t, std::vector<abi::Slot> &) override {}
  void keepOutChildren() override {}
  void stop() override {}
  std::vector<analysis::KernelCollector> collectors() const override { return collectors_; }

private:
  std::vector<analysis::KernelCollector> collectors_;
};

} // namespace

std::unique_ptr<KernelSession> KernelSession::start(const Setup &setup) {
  return std::make_unique<AbsentSession>(setup);
}

} // namespace msleaks::kernel
