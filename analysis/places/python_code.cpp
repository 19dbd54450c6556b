#include "analysis/places/python_code.h"

#include "msleaks/abi/definitions.h"
#include "msleaks/abi/python_file.h"

#include <cstring>
#include <xxhash.h>

namespace msleaks::analysis::inline places {

constexpr std::string_view kImports = "imports"; // shown for the memory of imports, instead of a library

std::optional<std::string_view> PythonCodes::add(std::span<const std::byte> body) {
  abi::PythonCodeDefinition code;
  if (body.size() < sizeof code)
    return std::nullopt;
  std::memcpy(&code, body.data(), sizeof code);
  const std::string_view texts{reinterpret_cast<const char *>(body.data()) + sizeof code, body.size() - sizeof code};
  if (code.file_bytes > texts.size())
    return std::nullopt;
  const auto [at, fresh] = codes_.try_emplace(
      code.number, Code{std::string(texts.substr(0, code.file_bytes)), std::string(texts.substr(code.file_bytes)), {}});
  return at->second.file;
}

bool PythonCodes::addModule(std::span<const std::byte> body) {
  abi::PythonModuleDefinition module;
  if (body.size() < sizeof module)
    return false;
  std::memcpy(&module, body.data(), sizeof module);
  const auto known = codes_.find(module.code);
  if (known == codes_.end())
    return false;
  if (std::string &name = known->second.module; name.empty())
    name.assign(reinterpret_cast<const char *>(body.data()) + sizeof module, body.size() - sizeof module);
  return true;
}

Site PythonCodes::siteOf(uint32_t code, uint32_t line) const {
  Site site;
  const auto known = codes_.find(code);
  if (known == codes_.end())
    return site;
  site.origin = SiteOrigin::Python;
  site.file = known->second.file;
  site.function = known->second.function;
  site.library = isImport(site.origin, site.file) ? kImports : site.file;
  site.module = known->second.module;
  site.line = line;
  const uint64_t of_file = XXH3_64bits_withSeed(site.file.data(), site.file.size(), line);
  site.id = XXH3_64bits_withSeed(site.function.data(), site.function.size(), of_file);
  return site;
}

bool isImport(SiteOrigin origin, std::string_view file) {
  return origin == SiteOrigin::Python && abi::isPythonImport(file);
}

} // namespace msleaks::analysis::inline places
