#include "analysis/collect/definitions_file.h"

#include "analysis/places/definition_records.h"

#include <algorithm>
#include <unistd.h>

namespace msleaks::analysis::inline collect {
namespace {

constexpr uint64_t kReadBytes = uint64_t{4} << 20;

// Returns the bytes of the first record, with its padding; 0: the record is not whole. Stores in `wanted` the size that
// the record claims to have.
uint64_t wholeRecord(std::span<const std::byte> records, uint64_t &wanted) {
  const DefinitionRecord record = frontDefinition(records);
  if (record.bytes != 0)
    wanted = record.bytes;
  return record.whole && record.bytes <= records.size() ? record.bytes : 0;
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
    // NOLINTNEXTLINE(bugprone-infinite-loop): each step has its own `record`
    for (std::span<const std::byte> rest = buffer_; const uint64_t record = wholeRecord(rest, wanted);
         rest = rest.subspan(record))
      whole += record;
    if (whole == 0 && wanted > ask && wanted <= available) {
      ask = wanted; // this record is larger than the usual reading
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

} // namespace msleaks::analysis::inline collect
