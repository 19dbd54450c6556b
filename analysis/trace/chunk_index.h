// Where every chunk of a trace is: as an index says it, or found by walking from header to header.
#pragma once

#include "analysis/trace/chunk.h"
#include "analysis/trace/index_entries.h"
#include "analysis/trace/index_root.h"

#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::trace {

// The index of a file, from its end, or from a walk where the end has none.
struct ChunkIndex {
  std::optional<IndexRoot> root;  // root of an index of two levels, whose leaves have the chunks
  std::vector<ChunkPlace> chunks; // else: all, without Index and Trailer
  std::vector<std::string> damage;
  uint64_t end = 0;    // behind the last whole chunk
  bool closed = false; // the file ends with a trailer
};

// Whether the file's header is whole. Fails for what is no trace of ours, or too new.
Result<bool> checkFileHeader(const InputFile &file);

// Fails only for a file that is no trace or that a newer version wrote, and when the disk does.
Result<ChunkIndex> readIndex(const InputFile &file);

// The same with the chunks of the leaves read, in the order of the file: for who wants each of them.
Result<ChunkIndex> readWholeIndex(const InputFile &file);

// The chunks of a leaf. Where it is damaged they are found by walking through its part of the file, and `damage` says
// so.
Result<std::vector<ChunkPlace>> readLeaf(const InputFile &file, const LeafPlace &leaf,
                                         std::vector<std::string> &damage);

} // namespace msleaks::analysis::trace
