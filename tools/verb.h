// Declares what a verb of `msleaks` is. Each file in verbs/, except registry.cpp, defines one verb. The file ends with
// the registration of the verb:
//
//   MSL_REGISTER_VERB(stem_of_the_file, "what it does, for --help", declareTheVerb)
//
// The stem of the file is also the verb's name. CONTRIBUTING.md describes how to add a verb.
#pragma once

#include "analysis/base/command_line.h"
#include "analysis/base/result.h"

#include <functional>
#include <vector>

// The stem is only a part of a C++ identifier. So the name of a verb may be a C++ keyword, such as `export`.
#define MSL_REGISTER_VERB(stem, summary, declare)                                                                      \
  Verb makeVerb_##stem() { return {#stem, summary, declare}; }

namespace msleaks::tools {

using analysis::CommandLine;
using analysis::Option;

// The action of a verb, which runs after its options are parsed. It writes only its result to stdout. If it returns an
// Error, main prints the message to stderr and exits with the error's status.
using Action = std::function<Result<ExitStatus>()>;

struct Verb {
  const char *name;
  const char *summary;
  Action (*declare)(CommandLine &); // adds the verb's options to the command line, and returns the verb's action
};

// Returns the verbs in the order of their names.
std::vector<Verb> makeVerbs();

} // namespace msleaks::tools
