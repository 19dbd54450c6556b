// Finds the last one of many sorted addresses at or before another address, in nearly constant time.
//
// Addresses of blocks form a few dense spans with large gaps between them. Each span is cut into buckets of equal
// length, about as many as it has addresses. A table tells which addresses are in each bucket, so only these are
// compared. The table takes 4 bytes for each address, whatever the gaps are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline live {

class SortedAddresses {
public:
  SortedAddresses() = default;
  // The addresses must be sorted, and there must be less than 2^32 of them.
  explicit SortedAddresses(std::vector<uint64_t> addresses) : addresses_(std::move(addresses)) {
    for (size_t begin = 0, end = 0; begin < addresses_.size(); begin = end) {
      end = begin + 1;
      while (end < addresses_.size() && addresses_[end] - addresses_[end - 1] <= kLargestGap)
        ++end;
      addSpan(begin, end);
    }
    firsts_.push_back(static_cast<uint32_t>(addresses_.size()));
  }

  size_t size() const { return addresses_.size(); }

  // Returns how many addresses are at or before `address`.
  size_t countUntil(uint64_t address) const {
    const auto behind = std::upper_bound(spans_.begin(), spans_.end(), address,
                                         [](uint64_t at, const Span &span) { return at < span.begin; });
    if (behind == spans_.begin())
      return 0;
    const Span &span = *(behind - 1);
    const uint32_t *first = &firsts_[span.bucket + std::min((address - span.begin) >> span.shift, span.last)];
    const auto begin = addresses_.begin();
    return static_cast<size_t>(std::upper_bound(begin + first[0], begin + first[1], address) - begin);
  }

private:
  // Between neighbours in a span. The heap and the mappings of a process are farther apart.
  static constexpr uint64_t kLargestGap = 1 << 30;

  struct Span {
    uint64_t begin; // its first address
    uint64_t last;  // the number of its last bucket, from 0
    size_t bucket;  // its first bucket in firsts_
    unsigned shift; // a bucket is 2^shift bytes long
  };

  void addSpan(size_t begin, size_t end) {
    const uint64_t first = addresses_[begin], length = addresses_[end - 1] - first;
    unsigned shift = 0;
    while (length >> shift >= end - begin)
      ++shift;
    spans_.push_back({first, length >> shift, firsts_.size(), shift});
    size_t index = begin;
    for (uint64_t bucket = 0; bucket <= length >> shift; ++bucket) {
      while ((addresses_[index] - first) >> shift < bucket)
        ++index;
      firsts_.push_back(static_cast<uint32_t>(index));
    }
  }

  std::vector<uint64_t> addresses_;
  std::vector<Span> spans_;
  std::vector<uint32_t> firsts_; // for each bucket: the index of the first address in it or behind it. Then the size
};

} // namespace msleaks::analysis::inline live
