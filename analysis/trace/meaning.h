// Reads the meaning of numbers in events from the payloads of a trace's chunks. Of a payload that makes no sense,
// returns the readable part. Then failed() of its reader is true.
#pragma once

#include "analysis/trace/bytes.h"
#include "analysis/trace/code_place.h"
#include "analysis/trace/format.h"
#include "analysis/trace/trace_writer.h"

#include <vector>

namespace msleaks::analysis::inline trace {

std::vector<TraceWriter::CallerEntry> readCallers(ByteReader &payload);
// `kind` is Paths or PathsByNumber.
std::vector<PathEntry> readPaths(ChunkKind kind, ByteReader &payload);
// `kind` is Resident or ResidentOfFiles.
std::vector<ResidentSample> readResident(ChunkKind kind, ByteReader &payload);
std::vector<SharingSample> readSharing(ByteReader &payload);
ImageNames readNames(ByteReader &payload);

} // namespace msleaks::analysis::inline trace
