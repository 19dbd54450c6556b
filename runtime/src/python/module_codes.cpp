#include "module_codes.h"

#include "objects.h"

#include <bit>

namespace msleaks::runtime::python {
namespace {

Code codeOf(uint64_t generation, const Call &call, std::string_view name) noexcept {
  return findOrAdd(
      generation, [&](const CodeTable &codes) { return codes.findModule(call, name); },
      [&](CodeTable &codes, Arena &arena) { return codes.addModule(arena, call, name); });
}

} // namespace

ModuleCodes::Entry &ModuleCodes::victimAmong(uint32_t first, uint64_t module, uint64_t outer) noexcept {
  for (uint32_t way = 0; way < kWays; ++way)
    if (Entry &entry = entries_[(first + way) % kEntries];
        entry.code.number == 0 || (entry.module == module && entry.outer == outer))
      return entry;
  return entries_[(first + replaced_++ % kWays) % kEntries];
}

// Without versions of dicts, a module may have the number of a deleted one at the same address. The module around it
// rarely does so, too. So both numbers are compared.
Code ModuleCodes::of(uint64_t generation, const Code &code, const Call &call, uint64_t outer) noexcept {
  const uint64_t module = selfOf(call);
  if (module == outer || dictOf(module) == 0)
    return code;
  const uint64_t version = versionOf(module) ^ (hasVersions() ? 0 : std::rotl(versionOf(outer), 32));
  const auto first = static_cast<uint32_t>((module ^ outer * 3) * 0x9e37'79b9'7f4a'7c15 >> 40);
  for (uint32_t way = 0; way < kWays; ++way)
    if (const Entry &entry = entries_[(first + way) % kEntries];
        entry.module == module && entry.version == version && entry.outer == outer && entry.generation == generation &&
        entry.code.number != 0)
      return entry.code;
  const Code named = codeOf(generation, call, search_.nameOf(outer, module));
  if (named.number == 0)
    return code;
  Entry &entry = victimAmong(first, module, outer);
  entry.code.number = 0; // if a signal handler now ends this function by a longjmp, the entry is empty
  entry = {module, version, outer, generation, {}};
  entry.code = named;
  return named;
}

} // namespace msleaks::runtime::python
