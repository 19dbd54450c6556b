#include "analysis/places/torch_functions.h"

#include "analysis/places/elf_file.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <span>

namespace msleaks::analysis::inline places {
namespace {

constexpr std::string_view kNamespace = "aten::";

bool isOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Takes the next component of a mangled name, such as "6linear" -> "linear". Empty if there is none.
std::string_view takeName(std::string_view &mangled) {
  size_t length = 0;
  const auto [digits, error] = std::from_chars(mangled.data(), mangled.data() + mangled.size(), length);
  const auto begin = static_cast<size_t>(digits - mangled.data());
  if (error != std::errc() || length > mangled.size() - begin)
    return {};
  const std::string_view name = mangled.substr(begin, length);
  mangled.remove_prefix(begin + length);
  return name;
}

// A function in the files whose paths contain `in_file`.
struct KnownFunction {
  std::string_view in_file, name;
};

// From Python 3.11 on, the name of a method begins with its class.
bool isOneOf(std::span<const KnownFunction> known, std::string_view file, std::string_view function) {
  return std::any_of(known.begin(), known.end(), [&](const KnownFunction &of) {
    return file.find(of.in_file) != std::string_view::npos && function.ends_with(of.name);
  });
}

bool take(std::string_view &text, std::string_view prefix) {
  if (!text.starts_with(prefix))
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Adds each word that follows "aten::" in the bytes, if the word ends the text.
void addOperators(std::string_view bytes, std::set<std::string, std::less<>> &operators) {
  for (size_t at = 0; (at = bytes.find(kNamespace, at)) != bytes.npos;) {
    at += kNamespace.size();
    const size_t begin = at;
    while (at < bytes.size() && isOfName(bytes[at]))
      ++at;
    if (at > begin && at < bytes.size() && bytes[at] == '\0')
      operators.emplace(bytes.substr(begin, at - begin));
  }
}

} // namespace

bool TorchFunctions::areIn(std::string_view path) {
  return path.substr(path.rfind('/') + 1).starts_with("libtorch_cpu");
}

TorchFunctions TorchFunctions::of(const ElfFile &file) {
  std::set<std::string, std::less<>> operators;
  forEachSection(file.handle(), [&](Elf_Scn *section, const GElf_Shdr &header) {
    if (header.sh_type != SHT_PROGBITS || (header.sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR)) != SHF_ALLOC)
      return;
    const std::span<const std::byte> bytes = bytesOf(section);
    addOperators({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, operators);
  });
  return TorchFunctions(std::move(operators));
}

// PyTorch calls the operator aten::add.Tensor by a function of the structure at::_ops::add_Tensor. The operator's name
// is the longest known name with which the structure's name begins.
std::string TorchFunctions::operatorOf(std::string_view structure) const {
  for (std::string_view name = structure; !name.empty(); name = name.substr(0, name.rfind('_'))) {
    if (operators_.contains(name))
      return std::string(kNamespace).append(name);
    if (name.find('_') == name.npos)
      break;
  }
  return std::string(kNamespace).append(structure);
}

std::string TorchFunctions::componentOf(std::string_view linkage_name) const {
  if (take(linkage_name, "_ZN2at4_ops")) {
    const std::string_view structure = takeName(linkage_name), function = takeName(linkage_name);
    return function == "call" || function == "redispatch" ? "operator@" + operatorOf(structure) : std::string();
  }
  if (!take(linkage_name, "_ZN5torch8autograd"))
    return {};
  take(linkage_name, "9generated");
  const std::string_view type = takeName(linkage_name), function = takeName(linkage_name);
  if (type == "Engine" && function == "evaluate_function")
    return "backward";
  return function == "apply" ? std::string("backward@").append(type) : std::string();
}

bool startsTorchBackward(std::string_view file, std::string_view function) {
  return file.ends_with("/torch/autograd/__init__.py") && (function == "backward" || function == "grad");
}

bool buildsTorchModule(std::string_view file, std::string_view function) {
  constexpr KnownFunction kBuilders[] = {
      {"/torch/nn/modules/", "__init__"},        {"/torch/nn/modules/", "reset_parameters"},
      {"/torch/nn/modules/module.py", "_apply"}, {"/torch/nn/modules/module.py", "load_state_dict"},
      {"/torch/nn/parameter.py", "__new__"},     {"/transformers/modeling_utils.py", "from_pretrained"}};
  return isOneOf(kBuilders, file, function);
}

bool loadsOptimizer(std::string_view file, std::string_view function) {
  constexpr KnownFunction kLoaders[] = {{"/torch/optim/optimizer.py", "load_state_dict"}};
  return isOneOf(kLoaders, file, function);
}

bool compilesTorchFunction(std::string_view file, std::string_view function) {
  constexpr KnownFunction kCompilers[] = {{"/torch/_dynamo/convert_frame.py", "_compile"}};
  return isOneOf(kCompilers, file, function);
}

bool loadsArrays(std::string_view file, std::string_view function) {
  constexpr KnownFunction kLoaders[] = {{"/torch/serialization.py", "load"}, {"/safetensors/", "load_file"},
                                        {"/safetensors/", "load"},           {"/numpy/lib/", "load"},
                                        {"/numpy/lib/", "read_array"},       {"/joblib/numpy_pickle.py", "load"}};
  return isOneOf(kLoaders, file, function);
}

} // namespace msleaks::analysis::inline places
