#include "module_name.h"

#include "calls.h"
#include "dict_entries.h"
#include "objects.h"
#include "text.h"

#include "../unwind/code.h"

#include <cstring>

namespace msleaks::runtime::python {
namespace {

bool isText(uint64_t string, std::string_view text) noexcept {
  char room[kMostCopiedBytes];
  return copiedTextOf(python.layout, string, room) == text;
}

uint64_t modulesIn(uint64_t module) noexcept {
  DictEntries attributes(copiedDictOf(module));
  for (DictEntry entry; attributes.next(entry);)
    if (isText(entry.key, "_modules"))
      return entry.value;
  return 0;
}

} // namespace

// Whether a module that was found contains this one. If so, sets the key. If not, adds the modules that it contains.
bool ModuleSearch::isDirectlyIn(uint32_t index, uint64_t module, uint64_t &key) noexcept {
  DictEntries modules(modulesIn(found_[index].module));
  for (DictEntry entry; modules.next(entry);) {
    key = entry.key;
    if (entry.value == module)
      return true;
    if (count_ < kMostSearched)
      found_[count_++] = {entry.value, entry.key, index};
  }
  return false;
}

void ModuleSearch::prepend(uint64_t key) noexcept {
  char room[kMostCopiedBytes];
  const std::string_view text = copiedTextOf(python.layout, key, room);
  if (text.empty() || text.size() + 1 > begin_)
    return;
  begin_ -= static_cast<uint32_t>(text.size());
  std::memcpy(text_ + begin_, text.data(), text.size());
  text_[--begin_] = '.';
}

// The keys from the outer module to the module at `index`, and `key`.
std::string_view ModuleSearch::pathTo(uint32_t index, uint64_t key) noexcept {
  begin_ = sizeof text_;
  prepend(key);
  for (; index != 0; index = found_[index].inside)
    prepend(found_[index].key);
  return {text_ + begin_, sizeof text_ - begin_};
}

std::string_view ModuleSearch::nameOf(uint64_t outer, uint64_t module) noexcept {
  count_ = 0;
  if (outer != 0)
    found_[count_++] = {outer, 0, kNone};
  uint64_t key = 0;
  for (uint32_t index = 0; index < count_; ++index)
    if (isDirectlyIn(index, module, key))
      return pathTo(index, key);
  return classNameOf(module);
}

} // namespace msleaks::runtime::python
