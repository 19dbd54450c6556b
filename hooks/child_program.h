// A program that runs for the hooks, and that the hooked process does not notice: it is no child of the process, sends
// it no signal, and has none of its descriptors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msleaks::hooks {

// Anonymous memory with a descriptor.
class MemoryFile {
public:
  explicit MemoryFile(const char *name) noexcept;
  ~MemoryFile();
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  int descriptor() const noexcept { return descriptor_; }
  uint64_t bytes() const noexcept;
  // From its beginning. False: not all of it could be written, or read.
  bool write(const void *from, uint64_t bytes) const noexcept;
  bool read(void *to, uint64_t bytes) const noexcept;

private:
  int descriptor_;
};

struct ChildProgram {
  const char *const *arguments; // the program first; null behind the last one
  const MemoryFile &input, &output, &messages;
};

// Waits until the program has said on its descriptor 3 that it has done its work, by a byte 1. False: it could not be
// started, it failed, or it took longer than two minutes.
bool runChild(const ChildProgram &program) noexcept;

} // namespace msleaks::hooks
