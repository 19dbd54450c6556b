#include "analysis/doctor/bindings.h"

#include <algorithm>

namespace msleaks::analysis {
namespace {

const LibraryFile::Slot *slotOf(const Image &image, const std::string &symbol) {
  const auto found = std::ranges::find(image.file->slots, symbol, &LibraryFile::Slot::symbol);
  return found != image.file->slots.end() ? &*found : nullptr;
}

// A program that takes a function's address and is linked to an address of its own is the function for everybody: they
// are given its stub.
const LibraryFile::Slot *behindStub(const Image &program, const std::string &symbol, uint64_t address) {
  if (!program.file)
    return nullptr;
  const auto entry = program.file->entries.find(symbol);
  return entry != program.file->entries.end() && entry->second + program.bias == address ? slotOf(program, symbol)
                                                                                         : nullptr;
}

Bound boundTo(const ProcessView &view, const HookedSymbols &hooked, const Image &image, const LibraryFile::Slot &slot,
              bool follow) {
  const auto value = view.word(image.bias + slot.address);
  if (!value)
    return {Binding::Unbound};
  if (*value == 0)
    return {Binding::Missing};
  const Image *to = view.at(*value);
  if (to == nullptr)
    return {Binding::Nowhere};
  if (hooked.areIn(to->path))
    return {Binding::Hook};
  if (const LibraryFile::Slot *next = follow ? behindStub(*to, slot.symbol, *value) : nullptr)
    return boundTo(view, hooked, *to, *next, false);
  if (to != &image)
    return {Binding::Other, to};
  const auto own = image.file->definitions.find(slot.symbol);
  const bool is_own = own != image.file->definitions.end() && own->second.address + image.bias == *value;
  return is_own ? Bound{Binding::Own, to} : Bound{Binding::Unbound};
}

} // namespace

Bound boundTo(const ProcessView &view, const HookedSymbols &hooked, const Image &image, const LibraryFile::Slot &slot) {
  return boundTo(view, hooked, image, slot, true);
}

const Image *programsLibc(const ProcessView &view) {
  const Image *program = view.program();
  if (program == nullptr || !program->file)
    return nullptr;
  const LibraryFile::Slot *slot = slotOf(*program, kLibcEntry);
  const auto value = slot != nullptr ? view.word(program->bias + slot->address) : std::nullopt;
  return value ? view.at(*value) : nullptr;
}

} // namespace msleaks::analysis
