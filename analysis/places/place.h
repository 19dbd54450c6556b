// Chooses the call of a path that a report names. It is the first call in the user's own code that keeps the block.
#pragma once

#include "analysis/places/site_catalog.h"
#include "analysis/places/site_text.h"
#include "msleaks/abi/system_header.h"

#include <array>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace msleaks::analysis::inline places {

// A source line within a call: the call's own line, or a line where the call's function was inlined.
struct Place {
  SiteId call;
  size_t inlined = 0; // 0 = the call's own line; n = entry n of its inline chain, from 1
  bool own = false;   // whether the line is in the user's own code

  // Places with equal keys are one place in a report. A call in instrumented code names a purpose, so has its own key.
  using Key = std::tuple<std::string_view, uint32_t, uint32_t, std::string_view, uint32_t>;
  Key keyIn(SiteCatalog &) const;
};

// Returns the calls that a reader of the source knows. Removes the code that the plugin inserted. The function of an
// instrumented place would be there twice, and is left only as the place.
CallPath shownPath(SiteCatalog &, SiteId);

using abi::isSystemHeader;
using abi::isSystemPath;

// Whether the image belongs to a distribution, an interpreter, an installed Python package or a driver. Users do not
// build these images with their program.
bool isSystemImage(std::string_view path);

// Whether the image is msleaks' library of hooks or its runtime.
bool isOurLibrary(std::string_view path);

Place innermostPlace(SiteCatalog &, SiteId);

// Whether the place is a line of Python code. Python frees the objects of such code at its end.
bool isOfPython(SiteCatalog &, const Place &);

// Finds the first line in the user's own code that is not a wrapper's; or else the outermost wrapper, or else the
// innermost call. A distribution's headers and libraries, and instances of std's templates, are not the user's own.
class Places {
public:
  explicit Places(SiteCatalog &catalog) : catalog_(catalog) {}
  Place of(SiteId site);

private:
  // Whether one of a call's lines can be the place.
  enum class Verdict : uint8_t { Unasked, NotOwn, Import, Wrapper, Own };
  struct Judged {
    uint32_t inlined = 0; // number of the line
    Verdict verdict = Verdict::Unasked;
    bool hands_out = false; // whether its outermost line hands the block out: then a forwarding caller does so, too
  };

  // The state of the search for a place along a path, from the innermost call outwards.
  struct Search {
    std::optional<Place> found;
    std::optional<Place> wrapper; // the outermost one, which is nearest to the code that wanted the block
    bool handed_out = false;
  };
  Place find(SiteId site);
  bool look(SiteId call, Search &); // returns whether the search ends
  void lookAlong(const CallPath &, Search &);
  void lookAlong(uint32_t innermost, Search &);
  // `handed_out`: whether the function that the call's innermost line called hands its block out.
  const Judged &judge(SiteId call, bool handed_out);

  SiteCatalog &catalog_;
  // By SiteId::index. A hundred thousand paths share the same calls, and several lists ask for them.
  std::vector<std::array<Judged, 2>> judged_;
  std::vector<std::optional<Place>> found_;
  std::vector<bool> is_foreign_; // by node of a path: whether neither this call nor an outer call is the user's own
};

// The text of the call, without the lines inside the place.
SiteText textOf(SiteCatalog &, const Place &);

} // namespace msleaks::analysis::inline places
