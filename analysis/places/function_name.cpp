#include "analysis/places/function_name.h"

#include <cctype>
#include <cstddef>

namespace msleaks::analysis {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)", kOperator = "operator";

bool isNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

bool isOpening(char c) { return c == '<' || c == '(' || c == '[' || c == '{'; }
bool isClosing(char c) { return c == '>' || c == ')' || c == ']' || c == '}'; }

// Behind the bracket that closes the one at `at`; npos: none does.
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

// "operator()", "operator<<", "operator new[]", "operator bool": up to the parameters.
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
  std::vector<std::string_view> scopes; // with their template arguments
  std::string_view own;                 // the same
  bool has_parameters = false;
};

// A name that cannot be read is its own name.
Parts partsOf(std::string_view name) {
  Parts parts;
  Parts whole{{}, name, false};
  size_t begin = 0, end = std::string_view::npos; // `end`: of the own name, where its parameters begin
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
    } else if (rest[0] == ' ' && end == std::string_view::npos) { // what stands before it is the type of the result
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

std::vector<std::string> formsOf(std::string_view function) {
  std::vector<std::string> forms{std::string(function)};
  const auto add = [&](std::string form) {
    if (form.size() < forms.back().size())
      forms.push_back(std::move(form));
  };
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
  const Parts parts = partsOf(function);
  std::string own = plainOwn(parts.own);
  if (parts.scopes.empty() || parts.scopes.back().starts_with("(anonymous"))
    return own;
  return plainOwn(parts.scopes.back()) + "::" + own;
}

} // namespace msleaks::analysis
