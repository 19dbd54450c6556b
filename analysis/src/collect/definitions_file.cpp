#include "msleaks/analysis/definitions_file.h"

#include "msleaks/abi/definitions.h"
#include "msleaks/abi/site_table.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kReadBytes = uint64_t{4} << 20;

// Bytes of the record at the beginning of `bytes`, padding included; 0 when there is no whole one.
uint64_t wholeRecord(std::span<const std::byte> bytes, uint64_t &wanted) {
  abi::DefinitionHeader header;
  if (bytes.size() < sizeof header)
    return 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != abi::kDefinitionMagic)
    return 0;
  const uint64_t padded = (uint64_t{header.bytes} + 7) / 8 * 8;
  wanted = sizeof header + padded;
  if (bytes.size() < wanted)
    return 0;
  const auto *body = reinterpret_cast<const unsigned char *>(bytes.data() + sizeof header);
  return abi::fnv1a32(body, header.bytes) == header.checksum ? wanted : 0;
}

} // namespace

bool DefinitionsFile::open() {
  if (!file_.valid())
    if (auto opened = openFile(path_, Access::Read))
      file_ = std::move(*opened);
  return file_.valid();
}

std::span<const std::byte> DefinitionsFile::readNew() {
  if (!open())
    return {};
  uint64_t ask = kReadBytes;
  for (;;) {
    const uint64_t size = sizeOf(file_);
    const uint64_t available = size > position_ ? size - position_ : 0;
    buffer_.resize(std::min(available, ask));
    const ssize_t got =
        buffer_.empty() ? 0 : pread(file_.get(), buffer_.data(), buffer_.size(), static_cast<off_t>(position_));
    if (got <= 0)
      return {};
    buffer_.resize(static_cast<size_t>(got));
    uint64_t whole = 0, wanted = 0;
    for (std::span<const std::byte> rest = buffer_; const uint64_t record = wholeRecord(rest, wanted);
         rest = rest.subspan(record))
      whole += record;
    if (whole == 0 && wanted > ask && wanted <= available) {
      ask = wanted; // one record larger than the usual reading
      continue;
    }
    position_ += whole;
    return std::span(buffer_).first(whole);
  }
}

uint64_t DefinitionsFile::unreadBytes() {
  const uint64_t size = open() ? sizeOf(file_) : 0;
  return size > position_ ? size - position_ : 0;
}

} // namespace msleaks::analysis
