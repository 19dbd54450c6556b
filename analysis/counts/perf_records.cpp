#include "analysis/counts/perf_records.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <vector>
#include <zstd.h>

namespace msleaks::analysis::profiles {
namespace {

constexpr size_t kHeaderBytes = sizeof(PerfRecordHeader), kMostRecordBytes = UINT16_MAX;
constexpr size_t kWindowBytes = 1 << 20, kUnpackedBytes = 1 << 18;

template <class T> T numberAt(std::span<const uint8_t> bytes) {
  T number{};
  std::memcpy(&number, bytes.data(), std::min(sizeof number, bytes.size()));
  return number;
}

tl::unexpected<Error> damaged(uint64_t at) { return fail(fmt::format("its record at byte {} is damaged", at)); }

// Unpacks compressed records. Each of them contains the next piece of one Zstandard stream. The stream contains records
// again. The last record of a piece may go on in the next piece.
class Unpacking {
public:
  explicit Unpacking(const OnPerfRecord &on_record)
      : on_record_(on_record), stream_(ZSTD_createDCtx()), buffer_(kUnpackedBytes + kMostRecordBytes) {}

  // `at` is the place of the compressed record in the file.
  Result<void> add(std::span<const uint8_t> packed, uint64_t at) {
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    packed_ += packed.size();
    for (bool is_full = false; in.pos < in.size || is_full;) {
      ZSTD_outBuffer out{buffer_.data(), buffer_.size(), rest_};
      const size_t status = ZSTD_decompressStream(stream_.get(), &out, &in);
      if (ZSTD_isError(status) != 0)
        return fail(fmt::format("its compressed record at byte {} is damaged ({})", at, ZSTD_getErrorName(status)));
      is_full = out.pos == out.size;
      MSL_TRY(take(out.pos, at));
    }
    return {};
  }

  // Returns false if the last unpacked record is not complete.
  bool isComplete() const { return rest_ == 0; }

private:
  // Limits the records of one stream, because a few bytes may unpack to any number of equal records.
  static constexpr uint64_t kMostForNothing = 1'000'000;

  Result<void> take(size_t count, uint64_t file_at) {
    size_t at = 0;
    while (count - at >= kHeaderBytes) {
      const auto header = numberAt<PerfRecordHeader>(std::span(buffer_).subspan(at, kHeaderBytes));
      if (header.size < kHeaderBytes || header.kind == PerfRecordKind::Compressed ||
          header.kind == PerfRecordKind::CompressedAligned || header.kind == PerfRecordKind::HardwareTrace)
        return damaged(file_at);
      if (count - at < header.size)
        break;
      if (++records_ > packed_ + kMostForNothing)
        return fail(fmt::format("its {} compressed bytes unpack to more than {} records: record without -z", packed_,
                                packed_ + kMostForNothing));
      if (!on_record_(header, std::span(buffer_).subspan(at + kHeaderBytes, header.size - kHeaderBytes)))
        return damaged(file_at);
      at += header.size;
    }
    rest_ = count - at;
    std::memmove(buffer_.data(), buffer_.data() + at, rest_);
    return {};
  }

  struct Free {
    void operator()(ZSTD_DCtx *stream) const { ZSTD_freeDCtx(stream); }
  };
  const OnPerfRecord &on_record_;
  std::unique_ptr<ZSTD_DCtx, Free> stream_;
  std::vector<uint8_t> buffer_;
  size_t rest_ = 0; // number of bytes of an incomplete record, at the beginning of the buffer
  uint64_t packed_ = 0, records_ = 0;
};

class Reading {
public:
  Reading(const InputFile &file, uint64_t end, PackedRecords packed, const OnPerfRecord &on_record)
      : file_(file), end_(end), packed_(packed), on_record_(on_record), unpacking_(on_record),
        buffer_(kWindowBytes + kMostRecordBytes) {}

  Result<void> from(uint64_t offset) {
    while (offset < end_) {
      const auto wanted = static_cast<size_t>(std::min<uint64_t>(buffer_.size(), end_ - offset));
      const auto window = std::span(buffer_).first(wanted);
      MSL_TRY(file_.readAll(offset, window));
      const uint64_t taken = MSL_TRY(take(window, offset));
      if (taken == 0)
        return fail(fmt::format("its last record, at byte {}, is cut short", offset));
      offset += taken;
    }
    return unpacking_.isComplete() ? Result<void>() : fail("its last compressed record is cut short");
  }

private:
  // Returns the number of bytes that are done. The number may be larger than the window, because some bytes after a
  // record are skipped.
  Result<uint64_t> take(std::span<const uint8_t> window, uint64_t offset) {
    uint64_t at = 0;
    while (at < window.size() && window.size() - at >= kHeaderBytes) {
      const auto header = numberAt<PerfRecordHeader>(window.subspan(at, kHeaderBytes));
      if (header.size < kHeaderBytes)
        return damaged(offset + at);
      if (window.size() - at < header.size)
        break;
      const auto body = window.subspan(at + kHeaderBytes, header.size - kHeaderBytes);
      MSL_TRY(onRecord(header, body, offset + at));
      at += header.size;
      const uint64_t behind = behindRecord(header, body);
      if (behind > end_ - offset - at)
        return damaged(offset + at - header.size);
      at += behind;
    }
    return at;
  }

  Result<void> onRecord(const PerfRecordHeader &header, std::span<const uint8_t> body, uint64_t at) {
    const bool is_aligned = header.kind == PerfRecordKind::CompressedAligned;
    if (header.kind != PerfRecordKind::Compressed && !is_aligned)
      return on_record_(header, body) ? Result<void>() : damaged(at);
    if (packed_ == PackedRecords::StepOver)
      return {};
    if (!is_aligned)
      return unpacking_.add(body, at);
    const auto bytes = numberAt<uint64_t>(body);
    if (body.size() < sizeof bytes || bytes > body.size() - sizeof bytes)
      return damaged(at);
    return unpacking_.add(body.subspan(sizeof bytes, static_cast<size_t>(bytes)), at);
  }

  // Returns the number of bytes after the record that are no records: data of a hardware trace, or formats of
  // tracepoints.
  static uint64_t behindRecord(const PerfRecordHeader &header, std::span<const uint8_t> body) {
    constexpr uint64_t kAlign = 8;
    if (header.kind == PerfRecordKind::HardwareTrace)
      return numberAt<uint64_t>(body);
    if (header.kind == PerfRecordKind::TracingData)
      return (uint64_t{numberAt<uint32_t>(body)} + kAlign - 1) / kAlign * kAlign;
    return 0;
  }

  const InputFile &file_;
  const uint64_t end_;
  const PackedRecords packed_;
  const OnPerfRecord &on_record_;
  Unpacking unpacking_;
  std::vector<uint8_t> buffer_;
};

} // namespace

Result<void> forEachPerfRecord(const InputFile &file, uint64_t begin, uint64_t end, PackedRecords packed,
                               const OnPerfRecord &on_record) {
  return Reading(file, end, packed, on_record).from(begin);
}

} // namespace msleaks::analysis::profiles
