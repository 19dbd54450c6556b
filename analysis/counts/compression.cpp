#include "analysis/counts/compression.h"

#include <bzlib.h>
#include <fmt/format.h>
#include <zlib.h>

namespace msleaks::analysis::profiles {
namespace {

constexpr size_t kUnpackStep = 64 << 10;
constexpr size_t kMostInput = 1 << 30; // bz_stream and z_stream count bytes in 32 bits.

// Unpacks one stream from the front of `packed`, and removes the stream from `packed`.
Result<void> unpackStream(std::span<const uint8_t> &packed, std::string &content, uint64_t most) {
  bz_stream stream{};
  if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK)
    return fail("out of memory for libbz2", ExitStatus::OwnFault);
  stream.next_in = const_cast<char *>(reinterpret_cast<const char *>(packed.data()));
  stream.avail_in = static_cast<unsigned>(packed.size());
  int status = BZ_OK;
  while (status == BZ_OK && content.size() <= most) {
    const size_t before = content.size();
    content.resize(before + kUnpackStep);
    stream.next_out = content.data() + before;
    stream.avail_out = kUnpackStep;
    const unsigned left = stream.avail_in;
    status = BZ2_bzDecompress(&stream);
    content.resize(before + kUnpackStep - stream.avail_out);
    if (status == BZ_OK && left == stream.avail_in && content.size() == before)
      break; // the stream needs more bytes than there are
  }
  const size_t left = stream.avail_in;
  BZ2_bzDecompressEnd(&stream);
  if (content.size() > most)
    return fail(fmt::format("more than {} MiB unpacked", most >> 20));
  if (status != BZ_STREAM_END)
    return fail("damaged bzip2 content");
  packed = packed.subspan(packed.size() - left);
  return {};
}

} // namespace

Result<std::string> packBzip2(std::string_view content) {
  // The manual of libbz2 states this bound.
  const size_t bound = content.size() + content.size() / 100 + 600;
  if (bound > kMostInput)
    return fail("a section of more than a gigabyte cannot be packed", ExitStatus::OwnFault);
  std::string packed(bound, '\0');
  auto size = static_cast<unsigned>(bound);
  const int status = BZ2_bzBuffToBuffCompress(packed.data(), &size, const_cast<char *>(content.data()),
                                              static_cast<unsigned>(content.size()), 9, 0, 0);
  if (status != BZ_OK)
    return fail(fmt::format("libbz2 fails with {}", status), ExitStatus::OwnFault);
  packed.resize(size);
  return packed;
}

Result<std::string> unpackBzip2(std::span<const uint8_t> packed, uint64_t most) {
  if (packed.size() > kMostInput)
    return fail("a packed section of more than a gigabyte");
  std::string content;
  do
    MSL_TRY(unpackStream(packed, content, most));
  while (!packed.empty());
  return content;
}

namespace {

constexpr size_t kInflateStep = 64 << 10;

} // namespace

Result<std::string> unpackZlib(std::span<const uint8_t> packed, uint64_t most) {
  if (packed.size() > kMostInput)
    return fail("a packed stream of more than a gigabyte");
  z_stream stream{};
  stream.next_in = const_cast<uint8_t *>(packed.data());
  stream.avail_in = static_cast<unsigned>(packed.size());
  if (inflateInit(&stream) != Z_OK)
    return fail("out of memory for zlib", ExitStatus::OwnFault);
  std::string content;
  int status = Z_OK;
  while (status == Z_OK && content.size() <= most) {
    const size_t before = content.size();
    content.resize(before + kInflateStep);
    stream.next_out = reinterpret_cast<uint8_t *>(content.data()) + before;
    stream.avail_out = kInflateStep;
    status = inflate(&stream, Z_NO_FLUSH); // Z_BUF_ERROR: the stream needs more bytes than there are.
    content.resize(before + kInflateStep - stream.avail_out);
  }
  inflateEnd(&stream);
  if (content.size() > most)
    return fail(fmt::format("more than {} MiB unpacked", most >> 20));
  if (status != Z_STREAM_END)
    return fail("its zlib stream is damaged");
  return content;
}

} // namespace msleaks::analysis::profiles
