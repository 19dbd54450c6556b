// A C++11 program that calls the API in constructors and destructors. The library says.c calls the API, too.
#include <msleaks/api.h>

#include <cstdio>
#include <memory>
#include <string>

extern "C" void library_says();

namespace {

struct Range {
  explicit Range(const std::string &name) { msl_range_push(name.c_str()); }
  ~Range() { msl_range_pop(); }
};

struct Owner {
  explicit Owner(const char *name) { msl_owner_push(name); }
  ~Owner() { msl_owner_pop(); }
};

struct AtStart {
  AtStart() { msl_mark("before main"); }
  ~AtStart() { msl_mark("after main"); }
} at_start;

static_assert(noexcept(msl_mark("")), "so that it may stand in a destructor");

} // namespace

int main() {
  library_says();
  for (int layer = 0; layer < 2; ++layer) {
    const Range range("layer " + std::to_string(layer));
    const Owner owner("net@\xc3\xa9t\xc3\xa9 \"quoted\"\n");
    std::unique_ptr<int> value(new int(layer));
  }
  std::puts("inferred");
}
