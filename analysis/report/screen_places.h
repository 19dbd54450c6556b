// The largest places of the first screen.
#pragma once

#include "text_table.h"

namespace msleaks::analysis {

// The places with the most bytes at the peak, each on one line. All that closed libraries allocated for themselves is
// one line. If no place is in the user's own code, each library is a line.
void writeScreenPlaces(TextTable &, const Report &);

} // namespace msleaks::analysis
