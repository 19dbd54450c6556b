// Where a launch, copy or fill uses a block, in the words of a finding.
#pragma once

#include "analysis/findings/conclusion.h"

#include <string>

namespace msleaks::analysis {

// "train.cpp:74 < train.cpp:206": the place of the use, and its caller, since many programs have a function of their
// own that launches. Empty: not known.
std::string lineOf(SiteId use, Conclusion &);

// "train.cpp:74", or "libx.so+0x10" where no line is known.
std::string lineOf(const SiteText &place);

// The line of the use as evidence, where it is known.
void addLine(Evidence &, const char *name, SiteId use, Conclusion &);

} // namespace msleaks::analysis
