#include "verb.h"

namespace msleaks::tools {

#define MSL_ENTRY(stem) Verb makeVerb_##stem();
#include "verbs.inc"
#undef MSL_ENTRY

std::vector<Verb> makeVerbs() {
  return {
#define MSL_ENTRY(stem) makeVerb_##stem(),
#include "verbs.inc"
#undef MSL_ENTRY
  };
}

} // namespace msleaks::tools
