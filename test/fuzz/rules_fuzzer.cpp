// Fuzzes the parsers of suppressions, filters and moments. The bytes before the first zero byte are the text. The rest
// is a name that is matched with the patterns of the text.
#include "analysis/places/patterns.h"
#include "analysis/report/question.h"

#include <cstdlib>
#include <string_view>

using namespace msleaks::analysis;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char *>(input), size);
  const std::string_view text = bytes.substr(0, bytes.find('\0'));
  const std::string_view name = bytes.substr(std::min(bytes.size(), text.size() + 1));
  if (const auto rules = parseSuppressions(text, "fuzzed"))
    for (const SuppressionRule &rule : *rules)
      (void)rule.pattern.matches(name);
  // A name without stars and anchors is a pattern that matches itself.
  if (name.find_first_of("*^$") == std::string_view::npos && !name.empty() && !Pattern(name).matches(name))
    std::abort();
  (void)Pattern(text).matches(name);
  (void)parseWindow(text, name, text);
  (void)parseHeap(text);
  (void)parseDimension(text);
  return 0;
}
