// Follows a process' .defs file (abi/definitions.h) while the process appends to it.
#pragma once

#include "analysis/reach/mapping.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace msleaks::analysis::inline collect {

class DefinitionsFile {
public:
  // The first `stored` bytes are in the trace already.
  explicit DefinitionsFile(std::filesystem::path file, uint64_t stored = 0)
      : path_(std::move(file)), position_(stored) {}

  // Returns the next whole records unchanged, at most a few MiB; empty: there is nothing new. A record that is not
  // whole yet is returned later. The span is valid until the next call.
  std::span<const std::byte> readNew();

  // Returns how many bytes are left after the process has ended: a record that was cut off by a kill, or damage. 0 =
  // all bytes were returned.
  uint64_t unreadBytes();

private:
  bool open();

  std::filesystem::path path_;
  FileDescriptor file_;
  uint64_t position_;
  std::vector<std::byte> buffer_;
};

} // namespace msleaks::analysis::inline collect
