// A program that is run again, under a tracer.
#pragma once

#include "analysis/second_run/tracer.h"
#include "analysis/second_run/verification.h"

#include <string>

namespace msleaks::analysis::inline second_run {

inline constexpr char kNotLoaded[] = "the program did not load the hooks (is it linked statically?)";

// `variable`: what the hooks in it are to do ("NAME=value"). Returns its exit status, as a shell reports it.
Result<int> runTraced(const SecondRun &, Tracer &, const std::string &variable);

} // namespace msleaks::analysis::inline second_run
