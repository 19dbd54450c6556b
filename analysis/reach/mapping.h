// A piece of a file, mapped shared.
#pragma once

#include "analysis/base/files.h"
#include "analysis/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace msleaks::analysis::inline reach {

enum class Access { Read, ReadWrite };

// Opens a regular file, never a link. The error names the file and the reason; errno stays what open set.
Result<FileDescriptor> openFile(const std::filesystem::path &, Access);
// 0 when it cannot be told.
uint64_t sizeOf(const FileDescriptor &);

class Mapping {
public:
  // Maps [offset, offset + bytes) of the file, whatever the alignment of `offset`. Fails when the file is shorter.
  static Result<Mapping> map(const FileDescriptor &, uint64_t offset, uint64_t bytes, Access);
  Mapping() = default;
  Mapping(Mapping &&other) noexcept;
  Mapping &operator=(Mapping &&other) noexcept;
  ~Mapping();

  std::byte *bytes() const { return bytes_; }
  template <class T> T *at(uint64_t offset) const { return reinterpret_cast<T *>(bytes_ + offset); }

private:
  void *start_ = nullptr; // as the kernel gave it; `bytes_` lies within its first page
  uint64_t length_ = 0;
  std::byte *bytes_ = nullptr;
};

} // namespace msleaks::analysis::inline reach
