// Mappings: the kernel gives them back, and changes their protection, in ranges of pages.
#include "analysis/live/live_process.h"

#include <algorithm>

namespace msleaks::analysis::inline live {
namespace {

// One past the last page of [begin, begin + bytes). Even an empty range has its page, so no two blocks share an
// address.
uint64_t pagesEnd(uint64_t begin, uint64_t bytes, uint64_t page_bytes) {
  const uint64_t last = endOf(begin, std::max<uint64_t>(bytes, 1));
  return last > UINT64_MAX - page_bytes ? UINT64_MAX : (last + page_bytes - 1) & ~(page_bytes - 1);
}

bool sameMapping(const Block &one, const Block &other) {
  return one.site == other.site && one.time_ns == other.time_ns && one.stream == other.stream &&
         one.reserve == other.reserve && one.file == other.file;
}

} // namespace

void LiveSet::insertMapping(Process &process, const Mapping &mapping, AllocCause cause, uint64_t time_ns) {
  // MAP_FIXED over another mapping is how that one is given back: no free is missing.
  cutOut(process, mapping.block.address, mapping.block.size, FreeCause::Replaced, time_ns);
  Mapping added = mapping;
  added.block.reserve = mapping.block.reserve || mapping.object.known(); // until it turns out to own what it shows
  ++live_blocks_;
  announceAlloc(process.mappings.emplace(added.block.address, added).first->second.block, cause, time_ns);
  if (added.object.known())
    share(process, added.block.address, time_ns);
}

void LiveSet::unmap(Process &process, const StreamEvent &event, const abi::FreeEvent &freed) {
  const bool realloc = freed.header.flags & abi::kRealloc;
  auto pieces = cutOut(process, freed.address, freed.size, realloc ? FreeCause::Reallocated : FreeCause::Freed,
                       freed.header.time);
  // An allocator of the program's own unmaps the memory of the block that it was given back. It took that memory inside
  // an allocation, where a mapping is no block.
  const bool is_supply = process.freed_by == event.stream && process.freed_address - freed.address < freed.size;
  if (pieces.empty())
    return is_supply ? void() : noteUnmatched(process, event, freed);
  process.parked[Process::parkingOf(event)] = {
      freed.address, false, pieces.front(), {pieces.begin() + 1, pieces.end()}};
}

// Takes the pages of [begin, begin + bytes) away from every mapping that has some, and returns what was taken. A
// mapping that keeps a head or a tail is announced as Remainder with all its parts, then the taken part with `cause`.
std::vector<LiveSet::Mapping> LiveSet::cutOut(Process &process, uint64_t begin, uint64_t bytes, FreeCause cause,
                                              uint64_t time_ns) {
  std::vector<Mapping> taken;
  const uint64_t end = pagesEnd(begin, bytes, process.page_bytes);
  for (const uint64_t border : {begin, end})
    if (const Mapping *mapping = process.across(border); mapping && mapping->object.known())
      splitObject(mapping->object, mapping->offset + (border - mapping->block.address), time_ns);
  auto &mappings = process.mappings;
  auto at = mappings.upper_bound(begin);
  if (at != mappings.begin() &&
      pagesEnd(std::prev(at)->first, std::prev(at)->second.block.size, process.page_bytes) > begin)
    --at;
  while (at != mappings.end() && at->first < end) {
    const Mapping whole = at->second;
    at = mappings.erase(at);
    --live_blocks_;
    Mapping piece = whole.from(std::max(begin, whole.block.address)), head = whole, tail = whole.from(end);
    piece.block.size = std::max(piece.block.address, std::min(end, whole.end())) - piece.block.address;
    head.block.size = piece.block.address - whole.block.address;

    if (head.block.size != 0 || tail.block.size != 0) {
      announceFree(whole.block, FreeCause::Remainder, time_ns);
      for (const Mapping &kept : {head, tail}) {
        if (kept.block.size == 0)
          continue;
        ++live_blocks_;
        announceAlloc(mappings.emplace(kept.block.address, kept).first->second.block, AllocCause::Remainder, time_ns);
      }
      announceAlloc(piece.block, AllocCause::Remainder, time_ns);
    }
    announceFree(piece.block, cause, time_ns);
    if (piece.object.known())
      leave(process, piece, time_ns);
    taken.push_back(piece);
  }
  return taken;
}

// What was reserved becomes memory, or memory is given back and the address space kept. A file's pages are the file's
// whatever their protection, and what several may show stays memory as long as one of them shows it.
void LiveSet::onProtect(const StreamEvent &event, const abi::ProtectEvent &protect) {
  Process &process = processOf(event.process);
  const bool reserve = protect.header.flags & abi::kReserve;
  const uint64_t time_ns = protect.header.time;
  const uint64_t end = pagesEnd(protect.address, protect.size, process.page_bytes);
  auto &mappings = process.mappings;
  auto at = mappings.upper_bound(protect.address);
  if (at != mappings.begin())
    --at;
  while (at != mappings.end() && at->first < end) {
    const Block &whole = at->second.block;
    const uint64_t begin = std::max(protect.address, whole.address);
    const uint64_t stop = std::min(end, endOf(whole.address, whole.size));
    if (whole.file || at->second.object.known() || whole.reserve == reserve || begin >= stop) {
      ++at;
      continue;
    }
    for (const Mapping &taken : cutOut(process, begin, stop - begin, FreeCause::Remainder, time_ns)) {
      Block piece = taken.block;
      piece.reserve = piece.file || reserve;
      addPiece(process, piece, time_ns);
    }
    at = mappings.lower_bound(stop);
  }
}

// One block again with its neighbours, where they are pages of one mapping: an allocator that commits its reserve in a
// thousand steps has one block, not a thousand.
void LiveSet::addPiece(Process &process, Block piece, uint64_t time_ns) {
  auto &mappings = process.mappings;
  const auto take = [&](std::map<uint64_t, Mapping>::iterator at) {
    const Block neighbour = at->second.block;
    mappings.erase(at);
    --live_blocks_;
    announceFree(neighbour, FreeCause::Remainder, time_ns);
    piece.address = std::min(piece.address, neighbour.address);
    piece.size += neighbour.size;
  };
  const auto isPartOf = [&](const Mapping &neighbour) {
    return !neighbour.object.known() && sameMapping(neighbour.block, piece);
  };
  auto next = mappings.lower_bound(piece.address);
  if (next != mappings.begin())
    if (const auto before = std::prev(next); before->second.end() == piece.address && isPartOf(before->second))
      take(before);
  next = mappings.lower_bound(piece.address);
  if (next != mappings.end() && endOf(piece.address, piece.size) == next->first && isPartOf(next->second))
    take(next);
  ++live_blocks_;
  announceAlloc(mappings.emplace(piece.address, Mapping{piece}).first->second.block, AllocCause::Remainder, time_ns);
}

} // namespace msleaks::analysis::inline live
