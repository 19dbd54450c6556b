// Runs a program for the hooks. The hooked process does not notice this program: the program is not its child, sends it
// no signal, and has none of its descriptors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msleaks::hooks {

// A file without a name, in memory.
class MemoryFile {
public:
  explicit MemoryFile(const char *name) noexcept;
  ~MemoryFile();
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  int descriptor() const noexcept { return descriptor_; }
  uint64_t bytes() const noexcept;
  // Write or read `bytes` bytes from the file's first byte on. Return false if not all bytes could be written or read.
  bool write(const void *from, uint64_t bytes) const noexcept;
  bool read(void *to, uint64_t bytes) const noexcept;

private:
  int descriptor_;
};

struct ChildProgram {
  const char *const *arguments; // the program first; null after the last one
  const MemoryFile &input, &output, &messages;
};

// Waits until the program writes a byte 1 to its descriptor 3: then it has done its work. False: the program could not
// be started, it failed, or it took longer than two minutes.
bool runChild(const ChildProgram &program) noexcept;

} // namespace msleaks::hooks
