#include "screen_places.h"

#include "analysis/base/base_name.h"
#include "analysis/findings/keeper.h"
#include "analysis/report/site_text.h"

#include "text_format.h"
#include "text_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace msleaks::analysis {
namespace {

// All places of a library, or of a child process.
struct PlacesOfOne {
  std::string name;
  TableRow row;
  uint64_t places = 0, largest_bytes = 0;
  const SiteLine *largest = nullptr;
};
using PlacesByName = std::map<std::string, PlacesOfOne>;

void addTo(PlacesByName &places, const std::string &name, const SiteLine &line, const BlockSum &sum) {
  PlacesOfOne &of = places[name];
  of.name = name;
  of.row.bytes += sum.bytes;
  of.row.count += sum.count;
  ++of.places;
  if (!of.largest || sum.bytes > of.largest_bytes) {
    of.largest = &line;
    of.largest_bytes = sum.bytes;
  }
}

std::vector<PlacesOfOne> largestFirst(const PlacesByName &places) {
  std::vector<PlacesOfOne> list;
  for (const auto &[name, of] : places)
    list.push_back(of);
  std::stable_sort(list.begin(), list.end(), [](const auto &a, const auto &b) { return a.row.bytes > b.row.bytes; });
  return list;
}

std::string shownLibrary(std::string_view path) { return path.empty() ? "(unknown)" : printable(baseName(path)); }

// The blocks of the user's own place that closed libraries allocated for themselves go to the libraries. Returns the
// other blocks.
BlockSum takeLibraries(const SiteLine &line, PlacesByName &libraries) {
  BlockSum left{line.bytes, line.count};
  std::map<std::string_view, BlockSum> taken;
  for (const PathLine &path : line.paths)
    if (const std::string_view library = closedLibraryOf(path); !library.empty()) {
      const BlockSum sum{std::min(path.bytes, left.bytes), std::min(path.count, left.count)};
      taken[library] += sum;
      left = {left.bytes - sum.bytes, left.count - sum.count};
    }
  for (const auto &[library, sum] : taken)
    addTo(libraries, shownLibrary(library), line, sum);
  return left;
}

std::string placeText(const SiteLine &line, size_t room) {
  SiteText site = line.site;
  if (site.type.empty())
    site.type = line.allocator.type;
  const std::string user = userPlaceOf(site, room);
  return user.empty() ? placeAndNameOf(site, room) : user;
}

// "libc10.so: 9 places, most in c10::alloc_cpu(...)", if one place has half of the bytes.
TableRow rowOf(const PlacesOfOne &of, size_t room) {
  TableRow row = of.row;
  row.text = of.name;
  if (of.places > 1)
    row.text += fmt::format(": {} places", countText(of.places));
  const bool is_most = of.largest_bytes >= of.row.bytes / 2;
  const std::string function = is_most ? of.largest->site.function : "";
  const std::string before = of.places > 1 ? ", most in " : ": in ";
  constexpr size_t kLeastName = 8;
  if (const size_t taken = widthOf(row.text) + before.size(); !function.empty() && taken + kLeastName <= room)
    row.text += before + shortFunction(function, room - taken);
  row.text = cutMiddle(row.text, room);
  return row;
}

// "kept by libraries: libtorch_cpu.so 35.0 MiB, python3.11 12.1 MiB, ..."
TableRow rowOfAll(const std::vector<PlacesOfOne> &libraries, size_t room) {
  constexpr std::string_view kMore = ", ...";
  TableRow row;
  row.foreign = true;
  row.text = "kept by libraries";
  bool fits = true;
  for (const PlacesOfOne &of : libraries) {
    row.bytes += of.row.bytes;
    row.count += of.row.count;
    const bool is_first = &of == &libraries.front(), is_last = &of == &libraries.back();
    const std::string piece = fmt::format("{}{} {}", is_first ? ": " : ", ", of.name, bytesText(of.row.bytes));
    fits = fits && widthOf(row.text) + widthOf(piece) + (is_last ? 0 : kMore.size()) <= room;
    if (fits)
      row.text += piece;
  }
  if (!fits)
    row.text += kMore;
  row.text = cutEnd(row.text, room);
  return row;
}

} // namespace

void writeScreenPlaces(TextTable &table, const Report &report) {
  if (report.peak.by_site.empty())
    return;
  const size_t room = table.roomForText();
  std::vector<TableRow> rows;
  PlacesByName libraries, children;
  for (const SiteLine &line : report.peak.by_site) {
    if (!line.child.empty())
      addTo(children, "child process " + printable(line.child), line, {line.bytes, line.count});
    else if (!line.own)
      addTo(libraries, shownLibrary(line.site.library), line, {line.bytes, line.count});
    else if (const BlockSum own = takeLibraries(line, libraries); own.count != 0)
      rows.push_back({.bytes = own.bytes, .count = own.count, .text = placeText(line, room)});
  }
  for (const PlacesOfOne &of : largestFirst(children))
    rows.push_back(rowOf(of, room));
  const std::vector<PlacesOfOne> sorted = largestFirst(libraries);
  const bool has_only_libraries = rows.empty();
  if (has_only_libraries)
    for (const PlacesOfOne &of : sorted)
      rows.push_back(rowOf(of, room));
  std::stable_sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
  if (!has_only_libraries && !sorted.empty())
    rows.push_back(rowOfAll(sorted, room));
  table.heading("At the peak");
  table.rows("place", std::move(rows), report.peak.bytes, "place");
}

} // namespace msleaks::analysis
