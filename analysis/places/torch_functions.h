// Tells which functions of PyTorch's library call operators, and which run parts of a backward pass.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline places {

class ElfFile;

class TorchFunctions {
public:
  // Whether the image at this path is the library that contains PyTorch's operators.
  static bool areIn(std::string_view path);
  // Reads the names of the operators in the library.
  static TorchFunctions of(const ElfFile &);
  explicit TorchFunctions(std::set<std::string, std::less<>> operators) : operators_(std::move(operators)) {}

  // "operator@aten::linear" for the call of an operator, and "backward@AddmmBackward0" for a node of the backward pass.
  // "backward" for the engine that runs such nodes. Empty for any other function.
  std::string componentOf(std::string_view linkage_name) const;

private:
  std::string operatorOf(std::string_view structure) const;

  std::set<std::string, std::less<>> operators_; // without "aten::"
};

// Whether a function of Python code starts a backward pass.
bool startsTorchBackward(std::string_view file, std::string_view function);

// Whether a function of Python code makes, moves or loads the parameters and buffers of modules.
bool buildsTorchModule(std::string_view file, std::string_view function);

// Whether a function of Python code loads the state of an optimizer.
bool loadsOptimizer(std::string_view file, std::string_view function);

// Whether a function of Python code compiles a function for torch.compile.
bool compilesTorchFunction(std::string_view file, std::string_view function);

// Whether a function of Python code reads arrays or tensors from a file.
bool loadsArrays(std::string_view file, std::string_view function);

} // namespace msleaks::analysis::inline places
