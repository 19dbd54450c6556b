// Adds and subtracts results by the tables of their fields (fields.h). Rows of lists are the same if their key fields
// are equal. So both results must come from the same build. `msleaks compare` pairs places of different builds.
#pragma once

#include "analysis/result/report.h"

namespace msleaks::analysis::inline result {

// Adds the result of another process, rank or run. Adds peaks and other sums. Of other values, such as ages, keeps the
// larger one.
void add(Report &into, Report from);

// Computes `after` minus `before`: numbers are signed, in two's complement. Rows that only `before` has are included.
// Floating-point numbers stay those of `after`.
Report difference(const Report &after, const Report &before);

// Adds `before` to a difference again. The result is `after`.
Report restored(const Report &difference, const Report &before);

} // namespace msleaks::analysis::inline result
