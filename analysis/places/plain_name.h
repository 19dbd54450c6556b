// Names of C++ without the parts that tell a reader nothing.
#pragma once

#include <string>
#include <string_view>

namespace msleaks::analysis {

// "std::map<std::string, Tensor>" of "std::map<std::__cxx11::basic_string<char, std::char_traits<char>,
// std::allocator<char> >, Tensor, std::less<...>, std::allocator<...> >". Left out are: inline namespaces of libraries,
// namespaces without a name, versions such as [abi:cxx11], default template arguments of the standard library, and
// std::allocator as a last argument. The text may contain names among other words; all else stays as it is.
std::string plainName(std::string_view text);

} // namespace msleaks::analysis
