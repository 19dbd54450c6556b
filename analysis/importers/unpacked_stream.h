// Reads a file as a stream. Unpacks gzip, zstd and LZ4, which it recognises by their first bytes. The build may lack
// liblz4.
#pragma once

#include "analysis/base/result.h"

#include <filesystem>
#include <istream>
#include <memory>
#include <string_view>

namespace msleaks::analysis::inline importers {

inline constexpr std::string_view kLz4Magic = "\x04\x22\x4d\x18";
#ifdef MSLEAKS_HAS_LZ4
inline constexpr bool kUnpacksLz4 = true;
#else
inline constexpr bool kUnpacksLz4 = false;
#endif

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
