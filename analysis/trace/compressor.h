// zstd with its contexts kept: making one costs more than compressing a chunk.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace msleaks::analysis::trace {

class Compressor {
public:
  Compressor();
  ~Compressor();
  // The compressed bytes, valid until the next call; empty when they would not be smaller.
  std::span<const uint8_t> compress(std::span<const uint8_t> raw);

private:
  ZSTD_CCtx_s *context_;
  std::vector<uint8_t> buffer_;
};

class Decompressor {
public:
  Decompressor();
  ~Decompressor();
  // Fills `raw`, whose size is known, exactly; false when `stored` holds something else.
  bool decompress(std::span<const uint8_t> stored, std::span<uint8_t> raw);

private:
  ZSTD_DCtx_s *context_;
};

} // namespace msleaks::analysis::trace
