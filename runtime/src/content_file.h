// Writes files with the content of watched blocks (docs/watch.md). Their format is safetensors, which common tools
// read:
//
//   8 bytes: size of the header | header, JSON: one tensor of bytes, and what is known of it | the bytes
#pragma once

#include "text.h"
#include "watched_block.h"

#include <cstdint>
#include <string_view>

namespace msleaks::runtime {

using ContentHeader = Text<8 << 10>;

// Buffers that are needed to write a file. They are not on the stack, which may be small at the time of a look.
struct ContentScratch {
  ContentHeader header;
  Text<1100> path, unfinished;
};

// The content of a block at a look, and the facts that the file's header contains about it.
struct Content {
  uint64_t address;
  std::string_view name; // of the watch; empty: the address is its name
  const char *bytes;
  uint64_t size_bytes;
  uint64_t digest;
  bool is_device;
  std::string_view operation; // since the previous look; empty: not within a range
  uint64_t step;              // number of the step + 1; 0 = the program has reported no step
  TensorForm form;
};

// Makes the header. It is padded so that the bytes after it begin at a multiple of 8.
void describe(const Content &, ContentHeader &to) noexcept;

// Returns the number of the file. 0 = the session wants no files. abi::kRefusedFile = there is no room on the disk, or
// Flags::watch_max is reached. Call with signals blocked.
uint64_t keepContent(const Content &, ContentScratch &) noexcept;

} // namespace msleaks::runtime
