// What was found damaged in a trace, each thing said once. May be told by several threads at once.
#pragma once

#include "analysis/trace/index_entries.h"

#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace msleaks::analysis::trace {

class DamageNotes {
public:
  void add(const std::vector<std::string> &notes);
  // One note for each chunk, or for each leaf of an index: by where it is in the file.
  void add(const ChunkPlace &place, const std::string &what);
  void add(uint64_t offset, const std::vector<std::string> &notes);
  std::vector<std::string> list() const;

private:
  mutable std::mutex lock_;
  std::set<uint64_t> known_;
  std::vector<std::string> notes_;
};

} // namespace msleaks::analysis::trace
