#include "analysis/places/place.h"

#include "analysis/base/text.h"
#include "analysis/places/driver_library.h"
#include "analysis/places/python_code.h"
#include "msleaks/abi/python_file.h"

#include <algorithm>
#include <array>
#include <optional>

namespace msleaks::analysis::inline places {

namespace {

// If the file is not known, looks for linkage names of functions in namespace std, and in libstdc++'s namespace.
bool isStandardLibrary(std::string_view function) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"_ZSt",  "_ZNSt",         "_ZNKSt",
                                                         "_ZZSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](auto prefix) { return function.starts_with(prefix); });
}

// nvcc links CUDA's runtime library into the program. This library has no debug information. The names of its inner
// functions contain a hash.
bool isCudaRuntime(std::string_view function) {
  constexpr std::string_view kApi = "cuda";
  const char next = function.starts_with(kApi) && function.size() > kApi.size() ? function[kApi.size()] : ' ';
  return (next >= 'A' && next <= 'Z') || function.starts_with("__cuda") || function.starts_with("libcudart_static_");
}

// Headers by which a program reports to msleaks or NVTX. They are not own code, but the lines that call them are.
bool isOfApi(std::string_view file, std::string_view function) {
  struct Header {
    std::string_view file, function; // texts that the file's and the function's name contain
  };
  constexpr Header kHeaders[] = {{"api.h", "msl_"}, {"mstx", "mstx"}, {"nvtx", "nvtx"}};
  return std::any_of(std::begin(kHeaders), std::end(kHeaders), [&](const Header &header) {
    return baseName(file).find(header.file) != std::string_view::npos &&
           function.find(header.function) != std::string_view::npos;
  });
}

bool isOwn(std::string_view file, std::string_view function) {
  return file.empty() ? !isStandardLibrary(function) && !isCudaRuntime(function)
                      : !isSystemPath(file) && !isOfApi(file, function);
}

bool isInserted(const Site &site) {
  return site.function.starts_with("__msl_armed.") || site.function.starts_with("__msl_gate.");
}

// Whether msleaks put this call between the program and a function: a hook, or code that the plugin inserted.
bool isOurs(const Site &site) { return isInserted(site) || isOurLibrary(site.library); }

// Instrumented code is the user's own, whatever folder contains it. A foreign file may name source files, but no
// libraries: then the source file decides. Relative ones are mostly those of a distribution.
bool isInOwnImage(const Site &site) {
  if (isOurs(site))
    return false;
  if (site.origin == SiteOrigin::Python)
    return abi::isUsersPython(site.file);
  if (site.library.empty())
    return site.origin == SiteOrigin::Pass || site.file.starts_with('/');
  return site.origin == SiteOrigin::Pass || (site.library.starts_with('/') && !isSystemImage(site.library));
}

// The function that contains the call's code. It may contain inlined functions.
std::string_view outermostFunctionOf(const Site &site) {
  return site.inlined_at.empty() ? site.function : site.inlined_at.back().function;
}

// Line 0 is the call's own line, and line n is entry n of its inline chain, from 1.
InlineFrame lineOf(const Site &site, size_t number) {
  return number == 0 ? InlineFrame{site.function, site.file, site.line, site.column} : site.inlined_at[number - 1];
}

bool isInstrumented(SiteCatalog &catalog, SiteId site) {
  return catalog.describe(catalog.innermostCallOf(site)).origin == SiteOrigin::Pass;
}

} // namespace

bool isOurLibrary(std::string_view path) { return baseName(path).starts_with("libmsleaks_"); }

bool isSystemImage(std::string_view path) { return abi::isLibraryImage(path) || isDriverLibrary(path); }

// Removes the inserted calls, and then the place's function, if it is the next call. It is not the next call if the
// call of the allocator was a tail call, because then the function's frame is gone.
static void dropInserted(SiteCatalog &catalog, CallPath &path) {
  const auto isCallOfInserted = [&](SiteId call) { return isInserted(catalog.describe(call)); };
  // Calls before an inserted call belong to the allocator: for example, libstdc++'s operator new calls malloc.
  const auto first = path.calls.begin() + 1;
  auto last = std::find_if(first, path.calls.end(), isCallOfInserted);
  if (last == path.calls.end())
    last = first;
  last = std::find_if_not(last, path.calls.end(), isCallOfInserted);
  if (last != path.calls.end() &&
      outermostFunctionOf(catalog.describe(*last)) == outermostFunctionOf(catalog.describe(path.calls.front())))
    ++last;
  path.calls.erase(first, last);
}

CallPath shownPath(SiteCatalog &catalog, SiteId site) {
  CallPath path = catalog.callPathOf(site);
  if (path.calls.size() < 2)
    return path;
  if (isInstrumented(catalog, site))
    dropInserted(catalog, path);
  // Also removes hooks further out: a library that a hook has called may allocate, too.
  path.calls.erase(std::remove_if(path.calls.begin() + 1, path.calls.end(),
                                  [&](SiteId call) { return isOurs(catalog.describe(call)); }),
                   path.calls.end());
  return path;
}

Place Places::of(SiteId site) {
  if (site.index >= found_.size())
    found_.resize(std::max<size_t>(catalog_.size(), site.index + 1));
  if (!found_[site.index])
    found_[site.index] = find(site);
  return *found_[site.index];
}

Place Places::find(SiteId site) {
  Search search;
  const uint32_t node = catalog_.innermostNodeOf(site);
  if (SiteCatalog::isNode(node) && !isInstrumented(catalog_, site))
    lookAlong(node, search);
  else
    lookAlong(shownPath(catalog_, site), search);
  return search.found ? *search.found : search.wrapper.value_or(innermostPlace(catalog_, site));
}

// The user can change nothing about a package that an import loads. So the search ends at the import, and the line that
// imports the package is not the place.
bool Places::look(SiteId call, Search &search) {
  const Judged &judged = judge(call, search.handed_out);
  const Place place{call, judged.inlined, true};
  if (judged.verdict == Verdict::Own)
    search.found = place;
  if (judged.verdict == Verdict::Wrapper)
    search.wrapper = place;
  search.handed_out = judged.hands_out;
  return search.found.has_value() || judged.verdict == Verdict::Import;
}

void Places::lookAlong(const CallPath &path, Search &search) {
  for (const SiteId call : path.calls)
    if (look(call, search))
      return;
}

void Places::lookAlong(uint32_t innermost, Search &search) {
  is_foreign_.resize(catalog_.pathNodeCount());
  const auto goOn = [&](uint32_t node) { return SiteCatalog::isNode(node) && !is_foreign_[node]; };
  for (uint32_t node = innermost; goOn(node); node = catalog_.pathNode(node).outer)
    if (look(catalog_.pathNode(node).call, search))
      return;
  if (search.wrapper)
    return;
  for (uint32_t node = innermost; goOn(node); node = catalog_.pathNode(node).outer)
    is_foreign_[node] = true;
}

const Places::Judged &Places::judge(SiteId call, bool handed_out) {
  using Handing = SiteCatalog::Handing;
  if (call.index >= judged_.size())
    judged_.resize(std::max<size_t>(catalog_.size(), call.index + 1));
  Judged &judged = judged_[call.index][handed_out];
  if (judged.verdict != Verdict::Unasked)
    return judged;
  judged.verdict = Verdict::NotOwn;
  const Site &at = catalog_.describe(call);
  if (isImport(at.origin, at.file))
    judged.verdict = Verdict::Import;
  if (!isInOwnImage(at))
    return judged;
  for (uint32_t i = 0; i <= at.inlined_at.size() && judged.verdict != Verdict::Own; ++i) {
    const InlineFrame line = lineOf(at, i);
    const bool is_own = isOwn(line.file, line.function);
    const Handing handing = catalog_.handingOf(line);
    handed_out = is_own && (handing == Handing::HandsOut || (handing == Handing::Forwards && handed_out));
    if (is_own)
      judged = {i, handed_out ? Verdict::Wrapper : Verdict::Own};
  }
  judged.hands_out = handed_out;
  return judged;
}

bool isOfPython(SiteCatalog &catalog, const Place &place) {
  return catalog.describe(place.call).origin == SiteOrigin::Python;
}

Place innermostPlace(SiteCatalog &catalog, SiteId site) { return {catalog.innermostCallOf(site), 0, false}; }

SiteText textOf(SiteCatalog &catalog, const Place &place) {
  SiteText text = textOf(catalog.describe(place.call));
  if (place.inlined == 0)
    return text;
  static_cast<FrameText &>(text) = text.inlined_at[place.inlined - 1];
  text.variable.clear(); // it belongs to the inner function
  text.inlined_at.erase(text.inlined_at.begin(), text.inlined_at.begin() + static_cast<ptrdiff_t>(place.inlined));
  return text;
}

Place::Key Place::keyIn(SiteCatalog &catalog) const {
  const Site &site = catalog.describe(call);
  const InlineFrame line = lineOf(site, inlined);
  const bool is_itself = inlined == 0 && (site.origin == SiteOrigin::Pass || site.file.empty());
  return {line.file, line.line, line.column, line.function, is_itself ? call.index : 0};
}

} // namespace msleaks::analysis::inline places
