#include "analysis/compare/place_figures.h"

#include "analysis/base/base_name.h"

namespace msleaks::analysis {

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
  place.offset = line.site.file.empty() ? line.site.offset : 0;
  return place;
}

} // namespace msleaks::analysis
