// A verb of `msleaks`. To add one: a file verbs/<name>.cpp that defines `const Verb verbs::<name>`; nothing else.
#pragma once

#include "msleaks/analysis/result.h"

#include <functional>

namespace CLI {
class App;
}

namespace msleaks::tools {

// What a verb does once its options are parsed. It writes its answer to stdout and nothing else there; an Error is
// printed to stderr, as one line, and its status is the program's.
using Action = std::function<Result<ExitStatus>()>;

struct Verb {
  const char *name;
  const char *summary;
  Action (*declare)(CLI::App &); // adds options to its own subcommand
};

// Each verb, declared; the list is generated from the names of the files.
namespace verbs {
#define MSL_VERB(name) extern const Verb name;
#include "verbs.inc"
#undef MSL_VERB
} // namespace verbs

} // namespace msleaks::tools
