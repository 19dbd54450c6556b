#include "core/real_bindings.h"

#include <gtest/gtest.h>

namespace msleaks::hooks {
namespace {

const void *pageAt(uint64_t index) { return reinterpret_cast<const void *>((index + 1) * kCodePage); }

// A program that imports PyTorch calls allocators from more pages than the table has entries.
TEST(RealBindings, TheLastCallersStayBound) {
  static const hook::Function function{};
  static int first, second;
  const uint64_t image = keyOf(Of::Image, pageAt(0));
  bind(function, image, &first, bindingEpoch());
  for (uint64_t i = 0; i < 2 * uint64_t{kBindings}; ++i)
    bind(function, keyOf(Of::Page, pageAt(i)), &first, bindingEpoch());
  const uint64_t late = keyOf(Of::Page, pageAt(3 * uint64_t{kBindings}));
  bind(function, late, &second, bindingEpoch());
  EXPECT_EQ(boundTo(function, late), &second);
  EXPECT_EQ(boundTo(function, image), &first); // the entry of a page never replaces the entry of an image
}

} // namespace
} // namespace msleaks::hooks
