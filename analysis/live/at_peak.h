// A changing value, and its value at the highest point of some sum. The value is copied only when it changes for the
// first time after a peak.
#pragma once

#include <cstdint>

namespace msleaks::analysis::inline live {

template <class T> class AtPeak {
public:
  // Returns the value, to change it. `peak` is the number of peaks so far, each higher than the one before.
  T &touch(uint64_t peak) {
    if (peak_ != peak) {
      then_ = now_;
      peak_ = peak;
    }
    return now_;
  }
  const T &now() const { return now_; }
  const T &then(uint64_t peak) const { return peak_ == peak ? then_ : now_; }
  // Returns the value at the peak, to change it: it turned out to be wrong.
  T &changeThen(uint64_t peak) {
    touch(peak);
    return then_;
  }

private:
  T now_{}, then_{};
  uint64_t peak_ = 0;
};

} // namespace msleaks::analysis::inline live
