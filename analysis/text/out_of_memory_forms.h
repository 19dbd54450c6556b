// Writes the answer of `msleaks oom` as JSON and as text.
#pragma once

#include "analysis/report/out_of_memory.h"
#include "analysis/text/report_text.h"

#include <iosfwd>

namespace msleaks::analysis::inline text {

// Returns the findings to fix first: those that save memory.
std::vector<Finding> savingFindings(const Report &);

void writeOutOfMemoryJson(std::ostream &, const OutOfMemory &);
void writeOutOfMemoryText(std::ostream &, const OutOfMemory &, const TableStyle &);

} // namespace msleaks::analysis::inline text
