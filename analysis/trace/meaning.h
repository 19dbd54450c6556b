// What the numbers in events mean, out of the payloads of its chunks. A payload that makes no sense gives what can be
// read of it; its reader has failed() then.
#pragma once

#include "analysis/trace/bytes.h"
#include "analysis/trace/code_place.h"
#include "analysis/trace/format.h"
#include "analysis/trace/trace_writer.h"

#include <vector>

namespace msleaks::analysis::trace {

std::vector<TraceWriter::CallerEntry> readCallers(ByteReader &payload);
// `kind`: Paths, or PathsByNumber.
std::vector<PathEntry> readPaths(ChunkKind kind, ByteReader &payload);
// `kind`: Resident, or ResidentOfFiles.
std::vector<ResidentSample> readResident(ChunkKind kind, ByteReader &payload);
ImageNames readNames(ByteReader &payload);

} // namespace msleaks::analysis::trace
