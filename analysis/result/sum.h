// Adds and subtracts results by the tables of their fields (result_fields.h). Rows of lists belong together if their
// key fields are equal, so both results must be of the same build. `msleaks compare` pairs places of different builds.
#pragma once

#include "analysis/result/report.h"

namespace msleaks::analysis::inline result {

// Adds the result of another process, rank or run. Peaks and other sums are added up; of ages and the like, the larger
// one stays.
void add(Report &into, Report from);

// `after` less `before`: the numbers are signed, in two's complement. A row that only `before` has is there, too.
// Floating-point numbers stay those of `after`.
Report difference(const Report &after, const Report &before);

// Adds to a difference what was subtracted: the result is `after` again.
Report restored(const Report &difference, const Report &before);

} // namespace msleaks::analysis::inline result
