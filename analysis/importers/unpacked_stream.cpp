#include "analysis/importers/unpacked_stream.h"

#include <array>
#include <fstream>
#include <streambuf>
#include <zlib.h>
#include <zstd.h>

#ifdef MSLEAKS_HAS_LZ4
#include <lz4frame.h>
#endif

namespace msleaks::analysis::inline importers {
namespace {

constexpr size_t kPieceBytes = 256 << 10;
constexpr std::string_view kGzip = "\x1f\x8b", kZstd = "\x28\xb5\x2f\xfd";
constexpr char kCut[] = "it was cut", kDamaged[] = "it cannot be unpacked: it is damaged";

} // namespace

// A packing reads from the file through pieces of packed bytes.
class UnpackedBuffer : public std::streambuf {
public:
  explicit UnpackedBuffer(const std::filesystem::path &file) : file_(file, std::ios::binary) {
    fill();
    const std::string_view packed(packed_.data(), end_);
    if (packed.starts_with(kGzip)) {
      gzip_.reset(new z_stream{});
      constexpr int kMaxWindow = 15, kGzipOnly = 16;
      if (inflateInit2(gzip_.get(), kMaxWindow + kGzipOnly) != Z_OK)
        fault_ = kDamaged;
    } else if (packed.starts_with(kZstd)) {
      zstd_.reset(ZSTD_createDCtx());
    }
#ifdef MSLEAKS_HAS_LZ4
    else if (packed.starts_with(kLz4Magic)) {
      LZ4F_dctx *stream = nullptr;
      if (LZ4F_isError(LZ4F_createDecompressionContext(&stream, LZ4F_VERSION)) != 0)
        fault_ = kDamaged;
      lz4_.reset(stream);
    }
#endif
  }
  const char *fault() const { return fault_; }

protected:
  int_type underflow() override {
    if (fault_ != nullptr)
      return traits_type::eof();
    const size_t size = gzip_ ? inflated() : zstd_ ? unpacked() : lz4_ ? unpackedLz4() : copied();
    setg(unpacked_.data(), unpacked_.data(), unpacked_.data() + size);
    return size == 0 ? traits_type::eof() : traits_type::to_int_type(unpacked_[0]);
  }

private:
  struct Free {
    void operator()(z_stream *stream) const {
      inflateEnd(stream);
      delete stream;
    }
    void operator()(ZSTD_DCtx *stream) const { ZSTD_freeDCtx(stream); }
#ifdef MSLEAKS_HAS_LZ4
    void operator()(LZ4F_dctx *stream) const { LZ4F_freeDecompressionContext(stream); }
#endif
  };

  bool fill() {
    file_.read(packed_.data(), static_cast<std::streamsize>(packed_.size()));
    at_ = 0;
    end_ = static_cast<size_t>(file_.gcount());
    return end_ != 0;
  }
  size_t copied() {
    if (at_ == end_ && !fill())
      return 0;
    const size_t size = end_ - at_;
    std::copy_n(packed_.data() + at_, size, unpacked_.data());
    at_ = end_;
    return size;
  }
  // Several streams may follow each other.
  size_t inflated() {
    gzip_->next_out = reinterpret_cast<Bytef *>(unpacked_.data());
    gzip_->avail_out = static_cast<uInt>(unpacked_.size());
    while (gzip_->avail_out == unpacked_.size()) {
      if (at_ == end_ && !fill()) {
        fault_ = is_between_ ? nullptr : kCut;
        break;
      }
      gzip_->next_in = reinterpret_cast<Bytef *>(packed_.data() + at_);
      gzip_->avail_in = static_cast<uInt>(end_ - at_);
      const int status = inflate(gzip_.get(), Z_NO_FLUSH);
      at_ = end_ - gzip_->avail_in;
      is_between_ = status == Z_STREAM_END;
      if (status == Z_STREAM_END)
        inflateReset(gzip_.get());
      else if (status != Z_OK) {
        fault_ = kDamaged;
        break;
      }
    }
    return unpacked_.size() - gzip_->avail_out;
  }
  size_t unpacked() {
    ZSTD_outBuffer out{unpacked_.data(), unpacked_.size(), 0};
    while (out.pos == 0) {
      if (at_ == end_ && !fill()) {
        fault_ = is_between_ ? nullptr : kCut;
        break;
      }
      ZSTD_inBuffer in{packed_.data(), end_, at_};
      const size_t status = ZSTD_decompressStream(zstd_.get(), &out, &in);
      at_ = in.pos;
      is_between_ = status == 0;
      if (ZSTD_isError(status) != 0) {
        fault_ = kDamaged;
        break;
      }
    }
    return out.pos;
  }
#ifdef MSLEAKS_HAS_LZ4
  size_t unpackedLz4() {
    size_t size = 0;
    while (size == 0) {
      if (at_ == end_ && !fill()) {
        fault_ = is_between_ ? nullptr : kCut;
        break;
      }
      size_t used = end_ - at_;
      size = unpacked_.size();
      const size_t status = LZ4F_decompress(lz4_.get(), unpacked_.data(), &size, packed_.data() + at_, &used, nullptr);
      at_ += used;
      is_between_ = status == 0;
      if (LZ4F_isError(status) != 0) {
        fault_ = kDamaged;
        return 0;
      }
    }
    return size;
  }
#else
  size_t unpackedLz4() { return 0; }
#endif

  std::ifstream file_;
  std::array<char, kPieceBytes> packed_{}, unpacked_{};
  size_t at_ = 0, end_ = 0; // of the packed bytes that are not yet used
  bool is_between_ = false; // whether a packed stream has just ended
  const char *fault_ = nullptr;
  std::unique_ptr<z_stream, Free> gzip_;
  std::unique_ptr<ZSTD_DCtx, Free> zstd_;
#ifdef MSLEAKS_HAS_LZ4
  std::unique_ptr<LZ4F_dctx, Free> lz4_;
#else
  static constexpr bool lz4_ = false;
#endif
};

UnpackedStream::UnpackedStream(const std::filesystem::path &file)
    : std::istream(nullptr), buffer_(std::make_unique<UnpackedBuffer>(file)) {
  rdbuf(buffer_.get());
}

UnpackedStream::~UnpackedStream() = default;

Result<void> UnpackedStream::whole() const {
  if (buffer_->fault() != nullptr)
    return msleaks::fail(buffer_->fault());
  return {};
}

} // namespace msleaks::analysis::inline importers
