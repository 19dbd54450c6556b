// A text that OpenCL's driver returns about an object: the source of a program, the names of its kernels, the
// extensions of a device. The text lies in pages of its own, because the hooks must not use the program's heap.
#pragma once

#include "counting/counted_kernels.h"
#include "opencl/calls.h"

#include <cstring>

namespace msleaks::hooks {

class OpenClText {
public:
  // `function`: for example clGetProgramInfo. The text is empty if the driver has no such text.
  OpenClText(hook::Function &function, const void *of, unsigned what) {
    size_t wanted = 0;
    if (cl::call<cl::Info>(function, of, what, size_t{0}, nullptr, &wanted) != cl::kDone || wanted == 0)
      return;
    bytes_ = wanted + 1;
    text_ = static_cast<char *>(takePages(bytes_));
    if (text_ != nullptr && !cl::infoOf(function, of, what, wanted, text_))
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
