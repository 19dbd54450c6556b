// A copy of an image in memory with all that objdump needs for some ranges of its code, and no more. It has a section
// for each range, the tables of symbols, and the names of PLT entries. So one run shows all of the ranges, with the
// text that it would have from the image itself. In a large library most of a run is spent on relocations, and there
// would be one run for each range.
#pragma once

#include "analysis/base/files.h"
#include "analysis/counts/disassembly.h"

#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::profiles {

class CodeExtract {
public:
  // Nothing where an image is no 64-bit program of this machine's byte order, or cannot be copied.
  static std::optional<CodeExtract> of(const std::string &image, const std::vector<AddressRange> &ranges);
  // Whether that is less work than a run for each range.
  static bool pays(const std::string &image, size_t runs);

  // A name under which a child of ours can open it, while this object lives.
  std::string path() const;

private:
  explicit CodeExtract(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

} // namespace msleaks::analysis::profiles
