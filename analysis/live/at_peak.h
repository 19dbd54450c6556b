// A value that changes, and what it was at the highest point of some sum: copied aside at its first change behind a
// peak, and only then.
#pragma once

#include <cstdint>

namespace msleaks::analysis::inline live {

template <class T> class AtPeak {
public:
  // To change it. `peak`: how many peaks there have been, each higher than the one before.
  T &touch(uint64_t peak) {
    if (peak_ != peak) {
      then_ = now_;
      peak_ = peak;
    }
    return now_;
  }
  const T &now() const { return now_; }
  const T &then(uint64_t peak) const { return peak_ == peak ? then_ : now_; }
  // To change what it was at the peak: it was something else than it seemed to be.
  T &changeThen(uint64_t peak) {
    touch(peak);
    return then_;
  }

private:
  T now_{}, then_{};
  uint64_t peak_ = 0;
};

} // namespace msleaks::analysis::inline live
