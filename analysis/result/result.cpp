#include "analysis/result/result.h"

namespace msleaks::analysis::inline result {

const char *nameOf(Confidence confidence) {
  switch (confidence) {
  case Confidence::Proved:
    return "proved";
  case Confidence::Likely:
    return "likely";
  case Confidence::Hint:
    return "hint";
  }
  return "";
}

const char *nameOf(Given given) { return given == Given::No ? "no" : "unknown"; }

} // namespace msleaks::analysis::inline result
