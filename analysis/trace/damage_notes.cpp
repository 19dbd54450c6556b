#include "analysis/trace/damage_notes.h"

#include <fmt/format.h>

namespace msleaks::analysis::trace {

void DamageNotes::add(const std::vector<std::string> &notes) {
  const std::scoped_lock held(lock_);
  notes_.insert(notes_.end(), notes.begin(), notes.end());
}

void DamageNotes::add(const ChunkPlace &place, const std::string &what) {
  const ChunkHeader &header = place.header;
  std::string which = fmt::format("{} chunk at byte {}", nameOf(header.kind), place.offset);
  if (header.kind == ChunkKind::Events)
    which += fmt::format(" (process {}, stream {}, {} events)", header.process, header.stream, header.events);
  add(place.offset, {fmt::format("{}: {}", which, what)});
}

void DamageNotes::add(uint64_t offset, const std::vector<std::string> &notes) {
  const std::scoped_lock held(lock_);
  if (!notes.empty() && known_.insert(offset).second)
    notes_.insert(notes_.end(), notes.begin(), notes.end());
}

std::vector<std::string> DamageNotes::list() const {
  const std::scoped_lock held(lock_);
  return notes_;
}

} // namespace msleaks::analysis::trace
