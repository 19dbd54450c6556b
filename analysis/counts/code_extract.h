// A file in memory with only the parts of an image that objdump needs to show some ranges of code. The file has a
// section for each range, the tables of symbols, and the names of PLT entries. So one run of objdump shows all ranges,
// with the same text as for the image itself. Without this file, objdump would need one run for each range. In a large
// library, each such run spends most of its time on relocations.
#pragma once

#include "analysis/base/files.h"
#include "analysis/counts/disassembly.h"

#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::profiles {

class CodeExtract {
public:
  // Returns nothing if the image is no 64-bit program of this machine's byte order, or if it cannot be copied.
  static std::optional<CodeExtract> of(const std::string &image, const std::vector<AddressRange> &ranges);
  // Whether a copy is less work than `runs` runs of objdump.
  static bool pays(const std::string &image, size_t runs);

  // Returns a path by which a child process can open the file. The path is valid while this object lives.
  std::string path() const;

private:
  explicit CodeExtract(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

} // namespace msleaks::analysis::profiles
