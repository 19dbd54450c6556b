#include "analysis/places/function_name.h"

#include "analysis/base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline places {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)", kOperator = "operator";

bool isNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

bool isOpening(char c) { return c == '<' || c == '(' || c == '[' || c == '{'; }
bool isClosing(char c) { return c == '>' || c == ')' || c == ']' || c == '}'; }

// Returns the position after the bracket that closes the bracket at `at`; npos if there is none.
size_t behindBrackets(std::string_view name, size_t at) {
  size_t depth = 0;
  for (; at < name.size(); ++at) {
    const bool is_arrow = name[at] == '>' && at > 0 && name[at - 1] == '-';
    depth += isOpening(name[at]) ? 1 : 0;
    if (isClosing(name[at]) && !is_arrow && --depth == 0)
      return at + 1;
  }
  return std::string_view::npos;
}

// Whether a name of an operator begins at `at`, such as "operator()", "operator<<", "operator new[]", "operator bool".
bool isOperatorAt(std::string_view name, size_t at) {
  const size_t behind = at + kOperator.size();
  return name.substr(at).starts_with(kOperator) && (at == 0 || !isNameCharacter(name[at - 1])) &&
         behind < name.size() && !isNameCharacter(name[behind]);
}
size_t behindOperator(std::string_view name, size_t at) {
  at += kOperator.size();
  if (name.substr(at).starts_with("()"))
    return at + 2;
  const size_t parameters = name.find('(', at);
  return parameters == std::string_view::npos ? name.size() : parameters;
}

struct Parts {
  std::vector<std::string_view> scopes; // with template arguments
  std::string_view own;                 // with template arguments
  bool has_parameters = false;
};

// If the name has an unknown form, the whole name is the function's own name.
Parts partsOf(std::string_view name) {
  Parts parts;
  Parts whole{{}, name, false};
  size_t begin = 0, end = std::string_view::npos; // where the own name ends and its parameters begin
  for (size_t at = 0; at < name.size();) {
    const std::string_view rest = name.substr(at);
    if (end == std::string_view::npos && isOperatorAt(name, at)) {
      at = behindOperator(name, at);
    } else if (rest.starts_with(kAnonymous)) {
      at += kAnonymous.size();
    } else if (rest.starts_with("::")) {
      parts.scopes.push_back(name.substr(begin, std::min(end, at) - begin));
      begin = at += 2;
      end = std::string_view::npos;
    } else if (isOpening(rest[0])) {
      if (rest[0] == '(' && end == std::string_view::npos)
        end = at;
      at = behindBrackets(name, at);
      if (at == std::string_view::npos)
        return whole;
    } else if (rest[0] == ' ' && end == std::string_view::npos) { // the text before the space is the result's type
      parts.scopes.clear();
      begin = ++at;
    } else {
      ++at;
    }
  }
  parts.has_parameters = end != std::string_view::npos;
  parts.own = name.substr(begin, std::min(end, name.size()) - begin);
  return parts.own.empty() ? whole : parts;
}

bool isOperator(std::string_view own) { return isOperatorAt(own, 0); }

std::string shortOwn(std::string_view own) {
  return isOperator(own) ? std::string(own) : withoutTemplateArguments(own);
}

std::string plainOwn(std::string_view own) {
  const size_t arguments = isOperator(own) ? std::string_view::npos : own.find('<');
  return std::string(own.substr(0, arguments == 0 ? std::string_view::npos : arguments));
}

} // namespace

std::string withoutTemplateArguments(std::string_view name) {
  std::string text;
  for (size_t at = 0; at < name.size();) {
    const bool opens = name[at] == '<' && at > 0;
    const size_t behind = opens ? behindBrackets(name, at) : at + 1;
    text += opens && behind != std::string_view::npos ? std::string("<...>") : std::string(1, name[at]);
    at = behind == std::string_view::npos ? at + 1 : behind;
  }
  return text;
}

// "main.<locals>.<lambda>" -> "<lambda>". Python names a function within a function in this way. Returns nothing for
// other names.
static std::optional<std::string_view> ownNameInPython(std::string_view function) {
  constexpr std::string_view kLocals = ".<locals>.";
  if (const size_t locals = function.rfind(kLocals); locals != std::string_view::npos)
    return function.substr(locals + kLocals.size());
  const bool is_special = function.starts_with('<') && function.ends_with('>') && // <module>
                          function.find_first_of(" :", 1) == std::string_view::npos;
  return is_special ? std::optional(function) : std::nullopt;
}

std::vector<std::string> formsOf(std::string_view function) {
  std::vector<std::string> forms{std::string(function)};
  const auto add = [&](std::string form) {
    if (form.size() < forms.back().size())
      forms.push_back(std::move(form));
  };
  if (const auto own = ownNameInPython(function)) {
    add(std::string(*own));
    return forms;
  }
  const Parts parts = partsOf(function);
  const std::string parameters = parts.has_parameters ? "(...)" : "";
  std::string whole, brief;
  for (const std::string_view scope : parts.scopes) {
    whole += std::string(scope) + "::";
    brief += withoutTemplateArguments(scope) + "::";
  }
  add(whole + std::string(parts.own) + parameters);
  const std::string own = shortOwn(parts.own);
  add(brief + own + parameters);
  for (size_t left_out = 1; left_out < parts.scopes.size(); ++left_out) {
    std::string scopes = "...::";
    for (size_t i = left_out; i < parts.scopes.size(); ++i)
      scopes.append(withoutTemplateArguments(parts.scopes[i])).append("::");
    add(scopes.append(own).append(parameters));
  }
  add(own + parameters);
  add(plainOwn(parts.own));
  return forms;
}

std::string briefName(std::string_view function) {
  if (const auto own = ownNameInPython(function))
    return std::string(*own);
  const Parts parts = partsOf(function);
  std::string own = plainOwn(parts.own);
  if (parts.scopes.empty() || parts.scopes.back().starts_with("(anonymous"))
    return own;
  return plainOwn(parts.scopes.back()) + "::" + own;
}

namespace {

constexpr std::string_view kStd = "std::", kScope = "::", kOperatorWord = "operator";
constexpr size_t kDeepest = 64; // the deepest level at which template arguments are shortened

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool isDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

bool isBetween(std::string_view text, std::string_view begin, std::string_view end) {
  return text.size() > begin.size() + end.size() && text.starts_with(begin) && text.ends_with(end);
}

// Whether a namespace is an inline namespace that a library uses only to tell its versions apart.
bool isInlineNamespace(std::string_view outer, std::string_view name) {
  if (name.starts_with("__"))
    return name == "__cxx11" || name == "__ndk1" || isDigits(name.substr(2));
  return (name.starts_with("_V") && isDigits(name.substr(2))) ||
         (outer == "fmt" && name.starts_with("v") && isDigits(name.substr(1))) ||
         (outer == "absl" && name.starts_with("lts_")) || (outer == "nlohmann" && name.starts_with("json_abi_")) ||
         (outer == "thrust" && isBetween(name, "THRUST_", "_NS")) || (outer == "cub" && isBetween(name, "CUB_", "_NS"));
}

std::string withoutInlineNamespaces(std::string_view text) {
  std::string kept;
  std::string_view outer; // the namespace before position `at`
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && isWord(text[end]))
      ++end;
    const std::string_view word = text.substr(at, end - at);
    const bool is_scope = !word.empty() && text.substr(end).starts_with(kScope);
    if (is_scope && !outer.empty() && isInlineNamespace(outer, word)) {
      at = end + kScope.size();
      continue;
    }
    kept += word;
    if (is_scope)
      kept += kScope;
    else if (word.empty())
      kept += text[end++];
    outer = is_scope ? word : std::string_view();
    at = is_scope ? end + kScope.size() : end;
  }
  return kept;
}

// Returns the position after the `>` that closes the `<` at `at`. Returns nothing if there is none.
std::optional<size_t> behindArguments(std::string_view text, size_t at) {
  std::vector<char> open;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '<' || c == '(' || c == '[' || c == '{') {
      open.push_back(c);
    } else if (c == '>' && at > 0 && text[at - 1] == '-') {
      continue;
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      const char wanted = c == '>' ? '<' : c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty() || open.back() != wanted)
        return std::nullopt;
      open.pop_back();
      if (open.empty())
        return at + 1;
    }
  }
  return std::nullopt;
}

// Returns the arguments between `<` and `>`, with their blanks.
std::vector<std::string_view> argumentsIn(std::string_view inside) {
  std::vector<std::string_view> list;
  size_t begin = 0, depth = 0;
  for (size_t at = 0; at < inside.size(); ++at) {
    const char c = inside[at];
    const bool is_arrow = c == '>' && at > 0 && inside[at - 1] == '-';
    if (c == '<' || c == '(' || c == '[' || c == '{')
      ++depth;
    else if ((c == '>' && !is_arrow) || c == ')' || c == ']' || c == '}')
      depth -= depth == 0 ? 0 : 1;
    else if (c == ',' && depth == 0) {
      list.push_back(inside.substr(begin, at - begin));
      begin = at + 1;
    }
  }
  list.push_back(inside.substr(begin));
  return list;
}

// Returns "float" if `argument` is "std::less<float>" and `of` is "std::less".
std::optional<std::string_view> argumentOf(std::string_view argument, std::string_view of) {
  if (!argument.starts_with(of) || argument.size() < of.size() + 2 || argument[of.size()] != '<' ||
      argument.back() != '>')
    return std::nullopt;
  return trimmed(argument.substr(of.size() + 1, argument.size() - of.size() - 2));
}

// Whether the argument equals the default argument of a template of the standard library.
bool isDefault(std::string_view argument, std::string_view of, std::string_view first) {
  if (argumentOf(argument, "std::allocator"))
    return true;
  if (!of.starts_with(kStd))
    return false;
  constexpr std::array kOfFirst = {"std::less", "std::hash", "std::equal_to", "std::default_delete",
                                   "std::char_traits"};
  for (const char *name : kOfFirst)
    if (argumentOf(argument, name) == first)
      return true;
  return (of == "std::priority_queue" && argumentOf(argument, "std::vector") == first) ||
         ((of == "std::queue" || of == "std::stack") && argumentOf(argument, "std::deque") == first);
}

// "std::basic_string" and the argument "char" -> "std::string".
std::optional<std::string> aliasOf(std::string_view of, std::string_view argument) {
  constexpr std::string_view kBasic = "std::basic_";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kCharacters = {
      {{"char", ""}, {"wchar_t", "w"}, {"char8_t", "u8"}, {"char16_t", "u16"}, {"char32_t", "u32"}}};
  if (!of.starts_with(kBasic))
    return std::nullopt;
  for (const auto &[character, prefix] : kCharacters)
    if (argument == character)
      return std::string(kStd).append(prefix).append(of.substr(kBasic.size()));
  return std::nullopt;
}

// Returns the name before `<`, with its namespaces: "std::vector".
std::string_view nameBefore(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && (isWord(text[begin - 1]) || text[begin - 1] == ':'))
    --begin;
  return text.substr(begin);
}

std::string plainArguments(std::string_view text, size_t depth);

// Returns the position after a useless part at `at`, or 0 if there is none. Useless parts are "[abi:cxx11]", by which a
// compiler tells versions of a function apart, and the scope of a namespace without a name.
size_t behindUseless(std::string_view text, size_t at) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  if (text.substr(at).starts_with(kAnonymous))
    return at + kAnonymous.size();
  const size_t end = text.substr(at).starts_with("[abi:") ? text.find(']', at) : std::string_view::npos;
  return end == std::string_view::npos ? 0 : end + 1;
}

// Appends "<...>" to a text that ends with the template's name.
void appendArguments(std::string &text, std::string_view inside, size_t depth) {
  const std::string of(nameBefore(text));
  std::vector<std::string> arguments;
  for (const std::string_view argument : argumentsIn(inside))
    arguments.push_back(plainArguments(trimmed(argument), depth + 1));
  while (arguments.size() > 1 && isDefault(arguments.back(), of, arguments.front()))
    arguments.pop_back();
  if (const auto alias = arguments.size() == 1 ? aliasOf(of, arguments.front()) : std::nullopt) {
    text.replace(text.size() - of.size(), of.size(), *alias);
    return;
  }
  text += '<';
  for (size_t i = 0; i < arguments.size(); ++i)
    text.append(i == 0 ? "" : ", ").append(arguments[i]);
  text += '>';
}

// Returns the position after "operator<<" and the like, whose signs are no brackets. Returns 0 if there is no operator.
size_t behindOperatorSigns(std::string_view text, size_t at) {
  if (!text.substr(at).starts_with(kOperatorWord) || (at > 0 && isWord(text[at - 1])))
    return 0;
  at += kOperatorWord.size();
  while (at < text.size() && (text[at] == '<' || text[at] == '>' || text[at] == '-' || text[at] == '='))
    ++at;
  return at;
}

std::string plainArguments(std::string_view text, size_t depth) {
  std::string plain;
  for (size_t at = 0; at < text.size();) {
    if (const size_t behind = behindUseless(text, at); behind != 0) {
      at = behind;
      continue;
    }
    if (const size_t behind = behindOperatorSigns(text, at); behind != 0) {
      plain += text.substr(at, behind - at);
      at = behind;
      continue;
    }
    const bool opens = text[at] == '<' && at > 0 && isWord(text[at - 1]) && depth < kDeepest;
    const std::optional<size_t> behind = opens ? behindArguments(text, at) : std::nullopt;
    if (behind) {
      appendArguments(plain, text.substr(at + 1, *behind - at - 2), depth);
      at = *behind;
    } else {
      plain += text[at++];
    }
  }
  return plain;
}

} // namespace

std::string plainName(std::string_view text) {
  if (text.find_first_of("<[") == std::string_view::npos && text.find(kScope) == std::string_view::npos)
    return std::string(text);
  return plainArguments(withoutInlineNamespaces(text), 0);
}

} // namespace msleaks::analysis::inline places
