// One chunk: made for the file, recognised in it, and its payload checked and unpacked.
#pragma once

#include "analysis/base/files.h"
#include "analysis/trace/bytes.h"
#include "analysis/trace/format.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

// zstd with its contexts kept: making one costs more than compressing a chunk.
struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace msleaks::analysis::inline trace {

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

uint64_t checksumOf(std::span<const uint8_t> content);

// The chunk's bytes are appended to `out`: sizes, codec and checksums are filled in here, the rest comes in `header`.
// Returns the header as written.
ChunkHeader packChunk(ChunkHeader header, std::span<const uint8_t> raw, Compressor &compressor, ByteWriter &out);

FileHeader makeFileHeader();

// The header at the front of `content`, if one is there: magic, checksum and sizes are right.
std::optional<ChunkHeader> parseChunkHeader(std::span<const uint8_t> content);

// Reads the chunk's payload and unpacks it into `raw`. The error is a phrase for damage(): what is wrong with it.
class PayloadReader {
public:
  explicit PayloadReader(const InputFile &file) : file_(&file) {}
  Result<void> read(const ChunkHeader &header, uint64_t offset, std::vector<uint8_t> &raw);

private:
  const InputFile *file_;
  Decompressor decompressor_;
  std::vector<uint8_t> stored_;
};

} // namespace msleaks::analysis::inline trace
