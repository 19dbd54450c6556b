// Which call of a path a report names: the first one in the user's own code that wanted the block for itself.
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

// A line of the source within a call: the call's own, or one that the function was inlined into.
struct Place {
  SiteId call;
  size_t inlined = 0; // 0 = the call's own line; n = the n-th of its inline chain
  bool own = false;   // in the user's own code

  // Equal for what a report shows as one place. Calls of instrumented code say what they are for, so each is its own.
  using Key = std::tuple<std::string_view, uint32_t, uint32_t, std::string_view, uint32_t>;
  Key keyIn(SiteCatalog &) const;
};

// Its calls as a reader of the source knows them. The code that the plugin inserts is none of them, and the function
// that an instrumented place lies in is there only once: as the place.
CallPath shownPath(SiteCatalog &, SiteId);

using abi::isSystemHeader;

// A distribution's file: code, or an image.
bool isSystemPath(std::string_view path);

// An image that nobody builds together with the program that it runs in: a distribution's, or an interpreter's.
bool isSystemImage(std::string_view path);

// Whether the image holds hooks or the runtime.
bool isOurLibrary(std::string_view path);

Place innermostPlace(SiteCatalog &, SiteId);

// The first line in the user's own code that is not a wrapper's; else the outermost wrapper, else the innermost call. A
// distribution's headers and libraries, and instances of the standard library's templates, are not the user's.
class Places {
public:
  explicit Places(SiteCatalog &catalog) : catalog_(catalog) {}
  Place of(SiteId site);

private:
  // Whether one of a call's own lines can be the place.
  enum class Verdict : uint8_t { Unasked, NotOwn, Wrapper, Own };
  struct Judged {
    uint32_t inlined = 0; // the line
    Verdict verdict = Verdict::Unasked;
    bool hands_out = false; // its outermost line: a forward that called it does so, too
  };

  // The search for a place along a path, from the innermost call on.
  struct Search {
    std::optional<Place> found;
    std::optional<Place> wrapper; // the outermost: nobody closer to who wanted the block is known
    bool handed_out = false;
  };
  Place find(SiteId site);
  bool look(SiteId call, Search &); // true: found
  void lookAlong(const CallPath &, Search &);
  void lookAlong(uint32_t innermost, Search &);
  // `handed_out`: what the call's innermost line called hands its block out.
  const Judged &judge(SiteId call, bool handed_out);

  SiteCatalog &catalog_;
  // By number. A hundred thousand paths go through the same calls, and are asked for in several lists.
  std::vector<std::array<Judged, 2>> judged_;
  std::vector<std::optional<Place>> found_;
  std::vector<bool> is_foreign_; // by node of the paths: neither that call nor one around it is the user's own
};

// The call without the lines inside the place.
SiteText textOf(SiteCatalog &, const Place &);

} // namespace msleaks::analysis::inline places
