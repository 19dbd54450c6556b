// The stand-in for libtorch_cpu.so and libc10.so.
#include "record_function.h"

#include <utility>

namespace {

std::array<at::RecordFunctionCallback, 4> callbacks;
size_t callback_count = 0;

} // namespace

bool c10::memoryProfilingEnabled() { return false; }

namespace at {

uint64_t addGlobalCallback(RecordFunctionCallback callback) {
  callbacks.at(callback_count) = callback;
  return ++callback_count;
}

RecordFunction::RecordFunction(RecordScope scope, std::string name) : name_(std::move(name)) {
  for (size_t i = 0; i < callback_count; ++i)
    if (callbacks[i].scopes.at(static_cast<size_t>(scope))) {
      is_observed_[i] = true;
      contexts_[i] = callbacks[i].start(*this);
    }
}

void RecordFunction::end() {
  for (size_t i = 0; i < callback_count; ++i)
    if (std::exchange(is_observed_[i], false))
      callbacks[i].end(*this, contexts_[i].get());
}

const char *RecordFunction::name() const { return name_.c_str(); }

} // namespace at
