// Reads a file as a stream. Unpacks gzip and zstd, which it recognises by their first bytes.
#pragma once

#include "analysis/base/result.h"

#include <filesystem>
#include <istream>
#include <memory>

namespace msleaks::analysis::inline importers {

class UnpackedBuffer;

class UnpackedStream : public std::istream {
public:
  explicit UnpackedStream(const std::filesystem::path &);
  ~UnpackedStream() override;
  // After the end of the stream: why there is no more, if the file is damaged or cannot be read.
  Result<void> whole() const;

private:
  std::unique_ptr<UnpackedBuffer> buffer_;
};

} // namespace msleaks::analysis::inline importers
