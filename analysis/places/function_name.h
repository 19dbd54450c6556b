// Demangled names of functions, and shorter forms of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline places {

// Returns forms of a name, from the whole name to the function's own name. Each form is shorter than the one before:
//   engine::Index<int, float>::grow(unsigned long)
//   engine::Index<int, float>::grow(...)
//   engine::Index<...>::grow(...)
//   ...::Index<...>::grow(...)
//   grow(...)
//   grow
std::vector<std::string> formsOf(std::string_view function);

// "Index::grow": the function's own name and its class or namespace, without arguments. Sentences contain this form.
std::string briefName(std::string_view function);

// "std::vector<float, std::allocator<float> >" -> "std::vector<...>".
std::string withoutTemplateArguments(std::string_view name);

// Removes the parts of C++ names that do not help a reader.

// "std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, Tensor, std::less<...>,
// std::allocator<...> >" -> "std::map<std::string, Tensor>". Removes inline namespaces and unnamed namespaces, versions
// such as [abi:cxx11], and default template arguments of the standard library. Also removes std::allocator as a last
// argument. `text` may contain other words: they stay unchanged.
std::string plainName(std::string_view text);

} // namespace msleaks::analysis::inline places
