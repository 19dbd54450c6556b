// Where the calls of an image lead.
#pragma once

#include "analysis/doctor/process_view.h"
#include "analysis/doctor/vocabulary.h"

#include <string>

namespace msleaks::analysis {

enum class Binding {
  Missing, // nobody has the function
  Unbound, // it was not called yet: the dynamic linker looks for it then
  Hook,
  Own,   // the image itself
  Other, // another image
  Nowhere
};

struct Bound {
  Binding binding{};
  const Image *to = nullptr; // of Own and Other
};

// The content of the image's slot for a function.
Bound boundTo(const ProcessView &, const HookedSymbols &, const Image &, const LibraryFile::Slot &);

// The C library that the program itself runs with; null: not known.
const Image *programsLibc(const ProcessView &);
inline constexpr char kLibcEntry[] = "__libc_start_main"; // a program has a slot for it

} // namespace msleaks::analysis
