// A profile as JSON, in the shapes that `lnt profile getTopLevelCounters`, `getFunctions` and `getCodeForFunction`
// print.
#pragma once

#include "analysis/profiles/profile.h"

#include <iosfwd>
#include <string>

namespace msleaks::analysis::profiles {

// "raw", "marked-up-disassembly"
void writeDisassemblyFormatJson(std::ostream &, const Profile &);
// {counter: number}
void writeCountersJson(std::ostream &, const Profile &);
// {function: {"counters": {counter: percent}, "length": lines}}
void writeFunctionsJson(std::ostream &, const Profile &);
// [[{counter: percent}, address, text], …]
void writeCodeJson(std::ostream &, const ProfiledFunction &);
// {function: [[…], …]} of all functions
void writeCodeJson(std::ostream &, const Profile &);

} // namespace msleaks::analysis::profiles
