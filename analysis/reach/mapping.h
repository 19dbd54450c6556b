// A part of a file, mapped as shared memory.
#pragma once

#include "analysis/base/files.h"
#include "analysis/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace msleaks::analysis::inline reach {

enum class Access { Read, ReadWrite };

// Opens a regular file, but not a symbolic link. The error contains the file and the reason. errno is as open has set
// it.
Result<FileDescriptor> openFile(const std::filesystem::path &, Access);
// Returns the size of the file; 0: not known.
uint64_t sizeOf(const FileDescriptor &);

class Mapping {
public:
  // Maps [offset, offset + bytes) of the file, for any alignment of `offset`. Fails if the file is shorter.
  static Result<Mapping> map(const FileDescriptor &, uint64_t offset, uint64_t bytes, Access);
  Mapping() = default;
  Mapping(Mapping &&other) noexcept;
  Mapping &operator=(Mapping &&other) noexcept;
  ~Mapping();

  std::byte *bytes() const { return bytes_; }
  template <class T> T *at(uint64_t offset) const { return reinterpret_cast<T *>(bytes_ + offset); }

private:
  void *start_ = nullptr; // as mmap returned it; `bytes_` lies in its first page
  uint64_t length_ = 0;
  std::byte *bytes_ = nullptr;
};

} // namespace msleaks::analysis::inline reach
