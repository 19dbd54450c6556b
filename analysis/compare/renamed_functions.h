// Functions that have another name or lie in another file now, although their blocks changed, too.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace msleaks::analysis::inline compare {

using FunctionKey = std::pair<std::string, std::string>; // the file, and the function

// Functions that only one of the runs has places in, with the purposes of these places: variable, type, callee.
using Purposes = std::set<std::tuple<std::string, std::string, std::string>>;
using FunctionPurposes = std::map<FunctionKey, Purposes>;

// How many places of a function of before are known to be places of a function of now.
using FunctionVotes = std::map<std::pair<FunctionKey, FunctionKey>, size_t>;

// The function of now that a function of before became. It has the same name in one of `new_files`, which only now has.
// Or it is in the same file: as another instance of the same template, or with places of the same purpose. One such
// place is enough if one name contains the other; otherwise there must be two.
std::map<FunctionKey, FunctionKey> renamedFunctions(const FunctionPurposes &gone, const FunctionPurposes &fresh,
                                                    const FunctionVotes &, const std::set<std::string> &new_files);

} // namespace msleaks::analysis::inline compare
