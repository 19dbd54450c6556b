// Mappings of memory that several mappings may show (shared_objects.h).
#include "analysis/live/live_process.h"

#include <algorithm>

namespace msleaks::analysis::inline live {

// The next Alloc event of this thread is the mapping of this object.
void LiveSet::onShared(const StreamEvent &event, const abi::SharedEvent &shared) {
  if (shared.object != 0 && shared.size != 0 && shared.offset <= UINT64_MAX - shared.size)
    processOf(event.process).shown[event.stream] = shared;
}

// Sets the object that the new mapping shows, if an event of its thread has named one.
void LiveSet::takeShown(Process &process, const StreamEvent &event, Mapping &mapping) {
  const abi::SharedEvent *found = process.shown.find(event.stream);
  if (!found)
    return;
  const abi::SharedEvent told = *found;
  process.shown.erase(event.stream);
  if (told.address != mapping.block.address || told.size != mapping.block.size)
    return;
  mapping.object = {told.file_system, told.object};
  mapping.offset = told.offset;
}

// Splits the mapping into pieces of its object. The mapping owns each piece that nobody else has mapped.
void LiveSet::share(Process &process, uint64_t address, uint64_t time_ns) {
  Mapping &mapping = process.mappings.at(address);
  const ObjectKey key = mapping.object;
  uint64_t begin = mapping.offset;
  const uint64_t end = endOf(begin, mapping.block.size);
  if (!shared_->hasRoom(key, begin, end)) {
    mapping.object = {};
    return;
  }
  splitObject(key, begin, time_ns);
  splitObject(key, end, time_ns);
  SharedObjects::Pieces &pieces = (*shared_)[key];
  auto next = pieces.lower_bound(begin);
  while (begin < end) {
    const bool known = next != pieces.end() && next->first == begin;
    const uint64_t until = known ? next->second.end : next == pieces.end() ? end : std::min(end, next->first);
    splitMapping(process, address + (until - begin), time_ns);
    const SharedObjects::Holder holder{process.number, address};
    if (known)
      next->second.holders.push_back(holder);
    else
      next = pieces.emplace_hint(next, begin, SharedObjects::Piece{until, {holder}});
    if (!known)
      setReserve(process.mappings.at(address).block, false, time_ns);
    ++next;
    address += until - begin;
    begin = until;
  }
}

// Splits a piece, and each mapping of the piece, at `offset` of the object.
void LiveSet::splitObject(const ObjectKey &key, uint64_t offset, uint64_t time_ns) {
  SharedObjects::Pieces &pieces = (*shared_)[key];
  auto piece = pieces.lower_bound(offset);
  if (piece == pieces.begin() || (--piece)->second.end <= offset)
    return;
  SharedObjects::Piece tail = piece->second;
  piece->second.end = offset;
  for (SharedObjects::Holder &holder : tail.holders) {
    holder.address += offset - piece->first;
    splitMapping(*processes_.at(holder.process), holder.address, time_ns);
  }
  pieces.emplace(offset, std::move(tail));
}

void LiveSet::splitMapping(Process &process, uint64_t address, uint64_t time_ns) {
  Mapping *mapping = process.across(address);
  if (!mapping)
    return;
  const Block whole = mapping->block;
  const Mapping tail = mapping->from(address);
  mapping->block.size = address - whole.address;
  announceFree(whole, FreeCause::Remainder, time_ns);
  announceAlloc(mapping->block, AllocCause::Remainder, time_ns);
  ++live_blocks_;
  announceAlloc(process.mappings.emplace(address, tail).first->second.block, AllocCause::Remainder, time_ns);
}

// A mapping of a piece was removed. If it owned the piece, another mapping gets the bytes.
void LiveSet::leave(const Process &process, const Mapping &gone, uint64_t time_ns) {
  const SharedObjects::Holder *next = shared_->leave(gone.object, gone.offset, {process.number, gone.block.address});
  if (!next)
    return;
  if (const auto owner = processes_.find(next->process); owner != processes_.end())
    if (Block *block = owner->second->find(AddressSpace::Mapping, next->address))
      setReserve(*block, false, time_ns);
}

void LiveSet::setReserve(Block &block, bool reserve, uint64_t time_ns) {
  if (block.reserve == reserve)
    return;
  announceFree(block, FreeCause::Remainder, time_ns);
  block.reserve = reserve;
  announceAlloc(block, AllocCause::Remainder, time_ns);
}

// All mappings of this process end. If another process has mapped a piece, the bytes move to that mapping.
void LiveSet::endMappings(Process &process, FreeCause cause, uint64_t time_ns) {
  for (auto &[address, mapping] : process.mappings) {
    --live_blocks_;
    if (!mapping.object.known()) {
      announceFree(mapping.block, cause, time_ns);
      continue;
    }
    const bool owned = !mapping.block.reserve;
    const SharedObjects::Holder *next = shared_->leave(mapping.object, mapping.offset, {process.number, address});
    announceFree(mapping.block, owned && next ? FreeCause::Remainder : cause, time_ns);
    if (next == nullptr)
      continue;
    if (Process &owner = next->process == process.number ? process : *processes_.at(next->process);
        Block *block = owner.find(AddressSpace::Mapping, next->address))
      setReserve(*block, false, time_ns);
  }
}

} // namespace msleaks::analysis::inline live
