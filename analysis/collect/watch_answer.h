// A process that watches a line asks where its code lies in an image (abi::ArenaHeader::watch_image).
#pragma once

#include "analysis/collect/arena_reader.h"
#include "msleaks/abi/session.h"

namespace msleaks::analysis {

// Answers the process, if it asks.
void answerWatch(ArenaReader &, const abi::WatchWish &);

} // namespace msleaks::analysis
