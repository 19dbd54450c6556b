// A text that OpenCL's driver returns about an object: the source of a program, the names of its kernels, the
// extensions of a device. The text lies in pages of its own, because the hooks must not use the program's heap.
#pragma once

#include "counting/counted_kernels.h"

#include "msleaks/hook.h"

#include <cstdint>
#include <cstring>

namespace msleaks::hooks {

class OpenClText {
public:
  // `function`: for example clGetProgramInfo. The text is empty if the driver has no such text.
  OpenClText(hook::Function &function, const void *of, unsigned what) {
    constexpr int kSuccess = 0;
    using Info = int(const void *, unsigned, size_t, void *, size_t *);
    auto *const real = reinterpret_cast<Info *>(hook::realOf(function));
    size_t wanted = 0;
    if (real == nullptr || real(of, what, 0, nullptr, &wanted) != kSuccess || wanted == 0)
      return;
    bytes_ = wanted + 1;
    text_ = static_cast<char *>(takePages(bytes_));
    if (text_ != nullptr && real(of, what, wanted, text_, nullptr) != kSuccess)
      text_[0] = 0;
  }
  ~OpenClText() {
    if (text_ != nullptr)
      givePages(text_, bytes_);
  }
  OpenClText(const OpenClText &) = delete;
  OpenClText &operator=(const OpenClText &) = delete;

  // Null if there is no text, or no memory for it.
  char *text() { return text_; }
  const char *get() const { return text_ != nullptr ? text_ : ""; }
  bool has(const char *part) const { return std::strstr(get(), part) != nullptr; }

private:
  char *text_ = nullptr;
  uint64_t bytes_ = 0;
};

} // namespace msleaks::hooks
