// A verb of `msleaks`. Each file of verbs/ is a verb. Each ends with
//
//   MSL_REGISTER_VERB(stem_of_the_file, "what it does, for --help", declareTheVerb)
//
// and has the name of the file's stem, which stands nowhere else. CONTRIBUTING.md says how to add a verb.
#pragma once

#include "analysis/base/result.h"
#include "analysis/command_line/command_line.h"

#include <functional>
#include <vector>

// The stem is only a part of an identifier, so a verb may have the name of a C++ keyword.
#define MSL_REGISTER_VERB(stem, summary, declare)                                                                      \
  Verb makeVerb_##stem() { return {#stem, summary, declare}; }

namespace msleaks::tools {

using analysis::CommandLine;
using analysis::Option;

// The action of a verb after its options are parsed. It writes only its answer to stdout. An Error is printed to
// stderr, as one line, and its status is the program's.
using Action = std::function<Result<ExitStatus>()>;

struct Verb {
  const char *name;
  const char *summary;
  Action (*declare)(CommandLine &); // adds options to its own part of the command line
};

// Returns the verbs in the order of their names.
std::vector<Verb> makeVerbs();

} // namespace msleaks::tools
