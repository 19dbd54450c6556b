// Demangled names of functions, and shorter forms of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline places {

// From the whole name to the function's own name, each form shorter than the one before:
//   engine::Index<int, float>::grow(unsigned long)
//   engine::Index<int, float>::grow(...)
//   engine::Index<...>::grow(...)
//   ...::Index<...>::grow(...)
//   grow(...)
//   grow
std::vector<std::string> formsOf(std::string_view function);

// "Index::grow": the own name and the class or namespace around it, without arguments. Sentences name functions so.
std::string briefName(std::string_view function);

// "std::vector<...>" of "std::vector<float, std::allocator<float> >".
std::string withoutTemplateArguments(std::string_view name);

// Names of C++ without the parts that tell a reader nothing.

// "std::map<std::string, Tensor>" of "std::map<std::__cxx11::basic_string<char, std::char_traits<char>,
// std::allocator<char> >, Tensor, std::less<...>, std::allocator<...> >". Left out are: inline namespaces of libraries,
// namespaces without a name, versions such as [abi:cxx11], default template arguments of the standard library, and
// std::allocator as a last argument. The text may contain names among other words; all else stays as it is.
std::string plainName(std::string_view text);

} // namespace msleaks::analysis::inline places
