// A verb of `msleaks`. The verbs are the files of verbs/. Each ends with
//
//   MSL_REGISTER_VERB(stem_of_the_file, "what it does, for --help", declare)
//
// and is called by the file's stem; nothing else names it. To add one: CONTRIBUTING.md.
#pragma once

#include "analysis/base/result.h"
#include "analysis/command_line/command_line.h"

#include <functional>
#include <vector>

// The stem is a part of an identifier only: a verb may be called like a keyword of C++.
#define MSL_REGISTER_VERB(stem, summary, declare)                                                                      \
  Verb makeVerb_##stem() { return {#stem, summary, declare}; }

namespace msleaks::tools {

using analysis::CommandLine;
using analysis::Option;

// What a verb does once its options are parsed. It writes its answer to stdout and nothing else there; an Error is
// printed to stderr, as one line, and its status is the program's.
using Action = std::function<Result<ExitStatus>()>;

struct Verb {
  const char *name;
  const char *summary;
  Action (*declare)(CommandLine &); // adds options to its own part of the command line
};

// In the order of their names.
std::vector<Verb> makeVerbs();

} // namespace msleaks::tools
