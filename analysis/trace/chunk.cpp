#include "analysis/trace/chunk.h"

#include <cstring>
#include <new>
#include <xxhash.h>
#include <zstd.h>

namespace msleaks::analysis::inline trace {

namespace {

template <class Header> uint64_t headerChecksum(const Header &header) {
  return XXH3_64bits(&header, sizeof header - sizeof header.checksum);
}

} // namespace

uint64_t checksumOf(std::span<const uint8_t> content) { return XXH3_64bits(content.data(), content.size()); }

FileHeader makeFileHeader() {
  FileHeader header;
  header.checksum = headerChecksum(header);
  return header;
}

ChunkHeader packChunk(ChunkHeader header, std::span<const uint8_t> raw, Compressor &compressor, ByteWriter &out) {
  // For fewer bytes, zstd's own frame costs more than the compression saves.
  constexpr size_t kWorthCompressing = 64;
  std::span<const uint8_t> stored;
  if (raw.size() >= kWorthCompressing)
    stored = compressor.compress(raw);
  const bool compressed = !stored.empty() && raw.size() <= stored.size() * kMaxCompression;
  if (!compressed)
    stored = raw;
  header.codec = compressed ? Codec::Zstd : Codec::None;
  header.raw_bytes = static_cast<uint32_t>(raw.size());
  header.stored_bytes = static_cast<uint32_t>(stored.size());
  header.payload_checksum = checksumOf(stored);
  header.checksum = headerChecksum(header);
  out.fixed(header);
  out.bytes(stored);
  return header;
}

std::optional<ChunkHeader> parseChunkHeader(std::span<const uint8_t> content) {
  ChunkHeader header;
  if (content.size() < sizeof header)
    return std::nullopt;
  std::memcpy(&header, content.data(), sizeof header);
  if (header.magic != kChunkMagic || header.checksum != headerChecksum(header) || !plausibleSizes(header))
    return std::nullopt;
  return header;
}

Result<void> PayloadReader::read(const ChunkHeader &header, uint64_t offset, std::vector<uint8_t> &raw) {
  stored_.resize(header.stored_bytes);
  MSL_TRY(file_->readAll(offset + sizeof header, stored_));
  if (checksumOf(stored_) != header.payload_checksum)
    return fail("its checksum does not fit");
  if (header.codec == Codec::None) {
    raw.assign(stored_.begin(), stored_.end());
    return {};
  }
  if (header.codec != Codec::Zstd)
    return fail("it is packed in a way that this version does not know");
  raw.resize(header.raw_bytes);
  if (!decompressor_.decompress(stored_, raw))
    return fail("it cannot be unpacked");
  return {};
}

// The columns are already dense: level 2 would save 1 % more, and a block for each column 5 %, in a third more time.
constexpr int kLevel = 1;

Compressor::Compressor() : context_(ZSTD_createCCtx()) {
  if (!context_)
    throw std::bad_alloc();
}

Compressor::~Compressor() { ZSTD_freeCCtx(context_); }

std::span<const uint8_t> Compressor::compress(std::span<const uint8_t> raw) {
  if (buffer_.size() < raw.size())
    buffer_.resize(raw.size());
  // The buffer is as large as `raw`. If the result would be larger, zstd fails, and the chunk is stored uncompressed.
  const size_t stored = ZSTD_compressCCtx(context_, buffer_.data(), raw.size(), raw.data(), raw.size(), kLevel);
  if (ZSTD_isError(stored))
    return {};
  return {buffer_.data(), stored};
}

Decompressor::Decompressor() : context_(ZSTD_createDCtx()) {
  if (!context_)
    throw std::bad_alloc();
}

Decompressor::~Decompressor() { ZSTD_freeDCtx(context_); }

bool Decompressor::decompress(std::span<const uint8_t> stored, std::span<uint8_t> raw) {
  const size_t size = ZSTD_decompressDCtx(context_, raw.data(), raw.size(), stored.data(), stored.size());
  return !ZSTD_isError(size) && size == raw.size();
}

} // namespace msleaks::analysis::inline trace
