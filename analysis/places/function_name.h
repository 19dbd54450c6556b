// Demangled names of functions, and shorter forms of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis {

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

} // namespace msleaks::analysis
