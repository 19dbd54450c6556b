// A program that is run again, under a tracer.
#pragma once

#include "analysis/verify/tracer.h"
#include "analysis/verify/verification.h"

#include <string>

namespace msleaks::analysis {

inline constexpr char kNotLoaded[] = "the program did not load the hooks (is it linked statically?)";

// `variable`: what the hooks in it are to do ("NAME=value"). Returns its exit status, as a shell reports it.
Result<int> runTraced(const SecondRun &, Tracer &, const std::string &variable);

} // namespace msleaks::analysis
