// The runtime and the analysis use the same rules for files of Python code.
#pragma once

#include "msleaks/abi/system_header.h"

namespace msleaks::abi {

// Whether the user writes this file. The name is empty if it is not known.
constexpr bool isUsersPython(std::string_view file) noexcept { return !file.empty() && !isPythonLibrary(file); }

// Whether the code in this file imports Python's modules.
constexpr bool isPythonImport(std::string_view file) noexcept { return file.starts_with("<frozen importlib"); }

// Whether this function of PyTorch calls a module, which is the function's first local variable.
constexpr bool callsTorchModule(std::string_view file, std::string_view function) noexcept {
  return file.ends_with("/torch/nn/modules/module.py") && function.ends_with("_call_impl");
}

static_assert(isUsersPython("/home/u/train.py") && isUsersPython("<string>"));
static_assert(!isUsersPython("") && !isUsersPython("/home/u/venv/lib/python3.12/site-packages/torch/nn.py"));
static_assert(isPythonImport("<frozen importlib._bootstrap>") && !isPythonImport("<frozen runpy>"));

} // namespace msleaks::abi
