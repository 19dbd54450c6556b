// Makes a chunk for the file, recognises a chunk in the file, and checks and unpacks its payload.
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

// The contexts of zstd. They are reused, because making one costs more than compressing a chunk.
struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace msleaks::analysis::inline trace {

class Compressor {
public:
  Compressor();
  ~Compressor();
  // Returns the compressed bytes, valid until the next call. The result is empty if it would not be smaller than `raw`.
  std::span<const uint8_t> compress(std::span<const uint8_t> raw);

private:
  ZSTD_CCtx_s *context_;
  std::vector<uint8_t> buffer_;
};

class Decompressor {
public:
  Decompressor();
  ~Decompressor();
  // Unpacks `stored` into `raw`. Returns false unless the result has exactly the size of `raw`.
  bool decompress(std::span<const uint8_t> stored, std::span<uint8_t> raw);

private:
  ZSTD_DCtx_s *context_;
};

uint64_t checksumOf(std::span<const uint8_t> content);

// Appends the chunk to `out`. Fills in the sizes, the codec and the checksums of the header; the caller has set the
// other fields. Returns the header that was written.
ChunkHeader packChunk(ChunkHeader header, std::span<const uint8_t> raw, Compressor &compressor, ByteWriter &out);

FileHeader makeFileHeader();

// Returns the header at the beginning of `content`, if its magic number, checksum and sizes are right.
std::optional<ChunkHeader> parseChunkHeader(std::span<const uint8_t> content);

// Reads the chunk's payload and unpacks it into `raw`. The error is a phrase that DamageNotes::add() can take.
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
