// Values by stream. Streams are numbered from 0 in each process, so a value needs its own bytes and nothing beside
// them: a server may have started a million threads, one after the other.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline trace {

template <class Value> class PerStream {
public:
  // Whether there is one is for the value to say: a new one is Value{}.
  Value &of(uint32_t process, uint32_t stream) {
    std::vector<Value> &dense = dense_[process];
    if (stream < dense.size())
      return dense[stream];
    // A damaged file may name any number. The collector's own stream has a large one, too.
    if (stream > 2 * dense.size() + kMostAhead || stream >= kMostStreams)
      return sparse_[{process, stream}];
    grow(dense, process, stream);
    return dense[stream];
  }
  // Calls f(process, stream, value) for each, ascending, also for those that nobody asked for and that lie between.
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

  // What was far ahead once may not be any more.
  void grow(std::vector<Value> &dense, uint32_t process, uint32_t stream) {
    dense.resize(uint64_t{stream} + 1 + stream / 4);
    const auto first = sparse_.lower_bound({process, 0});
    auto next = first;
    for (; next != sparse_.end() && next->first.first == process && next->first.second < dense.size(); ++next)
      dense[next->first.second] = std::move(next->second);
    sparse_.erase(first, next);
  }

  std::map<uint32_t, std::vector<Value>> dense_; // by process; there where there is a sparse one, too
  std::map<std::pair<uint32_t, uint32_t>, Value> sparse_;
};

} // namespace msleaks::analysis::inline trace
