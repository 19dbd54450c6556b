// Mappings of the kernel. The program unmaps them, and changes their protection, by ranges of pages.
#include "analysis/live/live_process.h"

#include <algorithm>

namespace msleaks::analysis::inline live {
namespace {

// Returns the end of the last page of [begin, begin + bytes). Even an empty range has one page, so that no two blocks
// share an address.
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
  // A mapping with MAP_FIXED replaces other mappings. So their free is not missing.
  cutOut(process, mapping.block.address, mapping.block.size, FreeCause::Replaced, time_ns);
  Mapping added = mapping;
  added.block.reserve = mapping.block.reserve || mapping.object.known(); // share() changes this if it owns its memory
  ++live_blocks_;
  announceAlloc(process.mappings.emplace(added.block.address, added).first->second.block, cause, time_ns);
  if (added.object.known())
    share(process, added.block.address, time_ns);
}

void LiveSet::unmap(Process &process, const StreamEvent &event, const abi::FreeEvent &freed) {
  const bool realloc = freed.header.flags & abi::kRealloc;
  auto pieces = cutOut(process, freed.address, freed.size, realloc ? FreeCause::Reallocated : FreeCause::Freed,
                       freed.header.time);
  // The program's own allocator may unmap the memory of a block that was just freed. It had mapped that memory inside
  // an allocation. Such a mapping is no block, so this free is not unmatched.
  const bool is_supply = process.freed_by == event.stream && process.freed_address - freed.address < freed.size;
  if (pieces.empty())
    return is_supply ? void() : noteUnmatched(process, event, freed);
  process.parked[Process::parkingOf(event)] = {
      freed.address, false, pieces.front(), {pieces.begin() + 1, pieces.end()}};
}

// Removes the pages of [begin, begin + bytes) from all mappings, and returns the removed parts. If a head or tail of a
// mapping remains, announces all parts as Remainder, and then frees the removed part with `cause`.
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

// Reserved addresses become memory, or memory is given back while its addresses stay reserved. This does not apply to a
// file's pages. It does not apply to shared objects either: they are memory while a mapping shows them.
void LiveSet::onProtect(const StreamEvent &event, const abi::ProtectEvent &protect) {
  Process &process = processOf(event.process);
  const bool reserve = protect.header.flags & abi::kReserve;
  const uint64_t time_ns = protect.header.time;
  if (protect.header.heap == abi::Heap::Device) {
    Block *block = process.find(AddressSpace::Accelerator, protect.address, protect.header.device);
    return block && isInGraph(*block) ? changeInGraph(process, *block, reserve, time_ns) : void();
  }
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

// Joins the piece with its neighbours if they are pages of the same mapping. So an allocator that commits its reserve
// in a thousand steps has one block, and not a thousand.
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
