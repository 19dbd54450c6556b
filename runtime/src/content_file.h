// Writes files with the content of watched blocks (docs/watch.md). The format of these files is safetensors, which
// common tools read:
//
//   8 bytes: size of the header | header in JSON: one tensor, and facts about it | the tensor's bytes
#pragma once

#include "text.h"
#include "watched_block.h"

#include <cstdint>
#include <string_view>

namespace msleaks::runtime {

using ContentHeader = Text<8 << 10>;

// Buffers for writing a file. They are not on the stack, since the program's stack may be small.
struct ContentScratch {
  ContentHeader header;
  Text<1100> path, unfinished;
};

// The content of a block, and the facts about it that the file's header contains.
struct Content {
  uint64_t address;
  std::string_view name; // name of the watch; empty: the address is its name
  const char *bytes;
  uint64_t size_bytes;
  uint64_t digest;
  bool is_device;
  std::string_view operation; // operation since the block was compared last; empty: none is known
  uint64_t step;              // number of the step + 1; 0 = the program has reported no step
  TensorForm form;
};

// Makes the header. The header is padded, so the bytes after it begin at a multiple of 8.
void describe(const Content &, ContentHeader &to) noexcept;

// Writes the content to a new file, and returns the number of the file. Returns 0 if the session asks for no files.
// Returns abi::kRefusedFile if the file cannot be written (for example, the disk is full), or if Flags::watch_max is
// reached. Call with signals blocked.
uint64_t keepContent(const Content &, ContentScratch &) noexcept;

} // namespace msleaks::runtime
