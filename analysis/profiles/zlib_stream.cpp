#include "analysis/profiles/zlib_stream.h"

#include <fmt/format.h>
#include <zlib.h>

namespace msleaks::analysis::profiles {
namespace {

constexpr size_t kInflateStep = 64 << 10;
constexpr size_t kMostInput = 1 << 30; // z_stream counts in 32 bits

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
    status = inflate(&stream, Z_NO_FLUSH); // Z_BUF_ERROR: it asks for more than there is
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
