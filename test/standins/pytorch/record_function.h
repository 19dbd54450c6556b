// Imitates the part of PyTorch's ATen/record_function.h that observers of operators use. The stand-in is for tests
// only, and has PyTorch's names, layouts and calling conventions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace c10 {
bool memoryProfilingEnabled(); // PyTorch calls it at each allocation of a tensor on the host
}

namespace at {

enum class RecordScope : uint8_t { FUNCTION = 0, BACKWARD_FUNCTION = 1, USER_SCOPE = 7, NUM_SCOPES = 10 };

struct ObserverContext {
  virtual ~ObserverContext() = default;
};

class RecordFunction;

struct RecordFunctionCallback {
  using Start = std::unique_ptr<ObserverContext> (*)(const RecordFunction &);
  using End = void (*)(const RecordFunction &, ObserverContext *);
  Start start;
  End end;
  double probability;
  std::array<bool, static_cast<size_t>(RecordScope::NUM_SCOPES)> scopes;
  bool needs_inputs, needs_outputs, needs_ids;
};

uint64_t addGlobalCallback(RecordFunctionCallback);

// An operator or a named scope. It ends when it is destroyed, or before by end(). The start and the end may be in
// different threads.
class RecordFunction {
public:
  RecordFunction(RecordScope, std::string name);
  RecordFunction(const RecordFunction &) = delete;
  RecordFunction &operator=(const RecordFunction &) = delete;
  ~RecordFunction() { end(); }
  void end();
  const char *name() const;

private:
  static constexpr size_t kMost = 4;
  std::string name_;
  std::array<bool, kMost> is_observed_{};
  std::array<std::unique_ptr<ObserverContext>, kMost> contexts_;
};

} // namespace at
