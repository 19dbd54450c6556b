#include "analysis/compare/place_figures.h"

#include "analysis/base/text.h"

#include <set>

namespace msleaks::analysis::inline compare {
namespace {

uint64_t wayOf(const SiteLine &line) {
  std::set<uint64_t> ids; // two lines of a function may have the same path
  for (const PathLine &path : line.paths)
    ids.insert(path.id);
  if (line.more_paths != 0 || ids.empty() || ids.contains(0))
    return 0;
  uint64_t way = 0;
  for (const uint64_t id : ids)
    way = way * 31 + id;
  return way;
}

} // namespace

PlaceFigures figuresOf(const SiteLine &line, const char *heap) {
  PlaceFigures place;
  place.own = line.own;
  place.library = baseName(line.site.library);
  place.heap = heap;
  place.child = line.child;
  place.bytes = line.bytes;
  place.count = line.count;
  if (!line.own)
    return place;
  place.file = line.site.file;
  place.line = line.site.line;
  place.column = line.site.column;
  place.function = line.site.function;
  place.variable = line.site.variable.empty() ? line.allocator.variable : line.site.variable;
  place.type = line.site.type.empty() ? line.allocator.type : line.site.type;
  place.callee = line.allocator.callee;
  place.way = wayOf(line);
  place.offset = line.site.file.empty() ? line.site.offset : 0;
  return place;
}

} // namespace msleaks::analysis::inline compare
