// Stores a value for each stream. Streams are numbered from 0 in each process, so a vector needs no bytes besides the
// values. This matters because a server may have started a million threads, one after another.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline trace {

template <class Value> class PerStream {
public:
  // Returns the stream's value. A stream without a value gets Value{}.
  Value &of(uint32_t process, uint32_t stream) {
    std::vector<Value> &dense = dense_[process];
    if (stream < dense.size())
      return dense[stream];
    // Stores a number far ahead in a map. A damaged file may contain any number, and the collector's is large.
    if (stream > 2 * dense.size() + kMostAhead || stream >= kMostStreams)
      return sparse_[{process, stream}];
    grow(dense, process, stream);
    return dense[stream];
  }
  // Calls f(process, stream, value) in ascending order, also with Value{} for streams that only lie between others.
  template <class F> void forEach(F &&f) const {
    auto sparse = sparse_.begin();
    for (const auto &[process, dense] : dense_) {
      for (uint32_t stream = 0; stream < dense.size(); ++stream)
        f(process, stream, dense[stream]);
      for (; sparse != sparse_.end() && sparse->first.first == process; ++sparse)
        f(process, sparse->first.second, sparse->second);
    }
  }

private:
  static constexpr uint64_t kMostAhead = 4096, kMostStreams = 1 << 24;

  // Makes the vector longer, and moves into it the values of sparse_ that now fit.
  void grow(std::vector<Value> &dense, uint32_t process, uint32_t stream) {
    dense.resize(uint64_t{stream} + 1 + stream / 4);
    const auto first = sparse_.lower_bound({process, 0});
    auto next = first;
    for (; next != sparse_.end() && next->first.first == process && next->first.second < dense.size(); ++next)
      dense[next->first.second] = std::move(next->second);
    sparse_.erase(first, next);
  }

  std::map<uint32_t, std::vector<Value>> dense_; // by process; each process of sparse_ is also here
  std::map<std::pair<uint32_t, uint32_t>, Value> sparse_;
};

} // namespace msleaks::analysis::inline trace
