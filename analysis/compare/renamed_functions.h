// Finds functions that now have another name or are in another file, even if their blocks changed, too.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace msleaks::analysis::inline compare {

using FunctionKey = std::pair<std::string, std::string>; // file and function

// Functions with places in only one of the runs, and the purposes of these places: variable, type, callee.
using Purposes = std::set<std::tuple<std::string, std::string, std::string>>;
using FunctionPurposes = std::map<FunctionKey, Purposes>;

// For two functions, one of each run: how many places of the first are known to be places of the second.
using FunctionVotes = std::map<std::pair<FunctionKey, FunctionKey>, size_t>;

// Returns for functions of the first run the function that each became in the second run. It has the same name in one
// of `new_files`, which only the second run has. Or it is in the same file, and is another instance of the same
// template or has places of the same purpose. One such place is enough if one name contains the other. Otherwise two
// such places are needed.
std::map<FunctionKey, FunctionKey> renamedFunctions(const FunctionPurposes &gone, const FunctionPurposes &fresh,
                                                    const FunctionVotes &, const std::set<std::string> &new_files);

} // namespace msleaks::analysis::inline compare
