// A map that keeps only the keys that were used last. A server may start a thread for each request, so data of a thread
// that has ended must not stay in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline live {

// Keeps at least the last kMost used keys, and at most twice as many. A pointer is valid until another key is used.
template <class Key, class Value, size_t kMost = 4096> class Recent {
public:
  // Returns null if the key is not there, or no longer there.
  Value *find(Key key) {
    if (const auto found = young_.find(key); found != young_.end())
      return &found->second;
    const auto found = old_.empty() ? old_.end() : old_.find(key);
    return found == old_.end() ? nullptr : &renew(key, std::move(found->second));
  }
  const Value *find(Key key) const {
    if (const auto found = young_.find(key); found != young_.end())
      return &found->second;
    const auto found = old_.empty() ? old_.end() : old_.find(key);
    return found == old_.end() ? nullptr : &found->second;
  }
  Value &operator[](Key key) {
    if (old_.empty() && young_.size() < kMost) [[likely]]
      return young_[key];
    Value *known = find(key);
    return known ? *known : renew(key, Value{});
  }
  void erase(Key key) {
    if (young_.erase(key) == 0 && !old_.empty())
      old_.erase(key);
  }
  template <class IsGone> void eraseIf(IsGone isGone) {
    std::erase_if(young_, [&](const auto &entry) { return isGone(entry.first); });
    std::erase_if(old_, [&](const auto &entry) { return isGone(entry.first); });
  }
  void clear() {
    young_.clear();
    old_.clear();
  }
  bool empty() const { return young_.empty() && old_.empty(); }
  size_t size() const { return young_.size() + old_.size(); }
  template <class F> void forEach(F &&f) const {
    for (const auto *part : {&young_, &old_})
      for (const auto &[key, value] : *part)
        f(key, value);
  }
  // In ascending order.
  std::vector<Key> keys() const {
    std::vector<Key> keys;
    forEach([&](Key key, const Value &) { keys.push_back(key); });
    std::sort(keys.begin(), keys.end());
    return keys;
  }

private:
  Value &renew(Key key, Value value) {
    if (!old_.empty())
      old_.erase(key);
    if (young_.size() >= kMost)
      old_ = std::exchange(young_, {});
    return young_.emplace(key, std::move(value)).first->second;
  }

  std::unordered_map<Key, Value> young_, old_;
};

} // namespace msleaks::analysis::inline live
