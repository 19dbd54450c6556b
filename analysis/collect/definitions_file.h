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
  // `stored` bytes at its beginning are in the trace already.
  explicit DefinitionsFile(std::filesystem::path file, uint64_t stored = 0)
      : path_(std::move(file)), position_(stored) {}

  // The next whole records, as they are, at most a few MiB; empty when there is nothing new. A record that is not
  // whole yet stays for later. The span is valid until the next call.
  std::span<const std::byte> readNew();

  // What is left when the process has gone: a record that a kill has cut off, or damage. 0 = every byte was given.
  uint64_t unreadBytes();

private:
  bool open();

  std::filesystem::path path_;
  FileDescriptor file_;
  uint64_t position_;
  std::vector<std::byte> buffer_;
};

} // namespace msleaks::analysis::inline collect
