// Fuzzes the reader of unpacked pickles, and visits the parts of each parsed value.
#include "analysis/counts/pickle.h"

#include <cstdlib>

using namespace msleaks::analysis::profiles;

namespace {

uint64_t walk(const Pickle &pickle, Pickle::Ref ref, unsigned depth) {
  switch (pickle.kindOf(ref)) {
  case Pickle::Kind::Text:
    return pickle.textOf(ref).size();
  case Pickle::Kind::List:
  case Pickle::Kind::Dictionary: {
    uint64_t sum = pickle.itemsOf(ref).size();
    if (depth > 0)
      for (size_t i = 0; i < pickle.itemsOf(ref).size() && i < 16; ++i)
        sum += walk(pickle, pickle.itemsOf(ref)[i], depth - 1);
    return sum;
  }
  default:
    return pickle.isNumber(ref) && pickle.numberOf(ref) > 0;
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  const auto pickle = Pickle::parse({reinterpret_cast<const char *>(bytes), size});
  if (!pickle)
    return pickle.error().message.find('\n') == std::string::npos ? 0 : (std::abort(), 0);
  walk(*pickle, pickle->root(), 4);
  pickle->find(pickle->root(), "counters");
  return 0;
}
