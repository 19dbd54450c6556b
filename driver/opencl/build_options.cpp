#include "build_options.h"

#include <algorithm>

namespace msleaks::driver {
namespace {

using std::string_view;

// Splits a text into words at spaces outside quotes. A backslash before a quote or a backslash makes this character a
// part of the word.
std::vector<std::string> wordsOf(string_view text) {
  std::vector<std::string> words;
  bool in_word = false, in_quotes = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!in_quotes && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
      continue;
    }
    if (!in_word)
      words.emplace_back();
    in_word = true;
    if (c == '"')
      in_quotes = !in_quotes;
    else if (c == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\'))
      words.back() += text[++i];
    else
      words.back() += c;
  }
  return words;
}

// Whether the word is a preprocessor option whose value is the next word.
bool takesValue(string_view word) { return word == "-D" || word == "-I" || word == "-U" || word == "-include"; }

bool isKnown(string_view word) {
  constexpr string_view kExact[] = {"-w",
                                    "-Werror",
                                    "-cl-opt-disable",
                                    "-cl-single-precision-constant",
                                    "-cl-denorms-are-zero",
                                    "-cl-fp32-correctly-rounded-divide-sqrt",
                                    "-cl-mad-enable",
                                    "-cl-no-signed-zeros",
                                    "-cl-unsafe-math-optimizations",
                                    "-cl-finite-math-only",
                                    "-cl-fast-relaxed-math",
                                    "-cl-strict-aliasing",
                                    "-cl-uniform-work-group-size",
                                    "-cl-kernel-arg-info"};
  return word.starts_with("-D") || word.starts_with("-I") || word.starts_with("-U") || word.starts_with("-cl-std=") ||
         std::find(std::begin(kExact), std::end(kExact), word) != std::end(kExact);
}

// Returns clang's option that enables only the device's extensions. clang defines a macro for each enabled extension,
// and programs check these macros.
std::string extensionsOf(string_view names) {
  std::string list = "-cl-ext=-all";
  for (const std::string &name : wordsOf(names))
    if (name.starts_with("cl_"))
      list += ",+" + name;
  return list;
}

} // namespace

std::vector<std::string> clangOptions(string_view options, const ClDevice &device) {
  std::vector<std::string> taken;
  const std::vector<std::string> words = wordsOf(options);
  for (size_t i = 0; i < words.size(); ++i) {
    if (takesValue(words[i]) && i + 1 < words.size()) {
      taken.push_back(words[i]);
      taken.push_back(words[++i]);
    } else if (!takesValue(words[i]) && isKnown(words[i])) {
      taken.push_back(words[i]);
    }
  }
  const auto has = [&](string_view beginning) {
    return std::any_of(taken.begin(), taken.end(),
                       [&](const std::string &word) { return word.starts_with(beginning); });
  };
  if (!has("-cl-std="))
    taken.emplace_back("-cl-std=CL1.2"); // OpenCL's default if the program does not set -cl-std
  if (!has("-cl-opt-disable"))
    taken.emplace_back("-O1");
  if (!device.version.empty()) {
    taken.emplace_back("-U__OPENCL_VERSION__");
    taken.push_back("-D__OPENCL_VERSION__=" + device.version);
  }
  taken.emplace_back("-Xclang");
  taken.push_back(extensionsOf(device.extensions));
  return taken;
}

} // namespace msleaks::driver
