// A place in JSON: in the file of `msleaks check --save`, and in what `--json` says (docs/check.md).
#pragma once

#include "analysis/check/figures.h"
#include "analysis/run/json_fields.h"

namespace msleaks::analysis {

template <class Visitor, IsOrConst<PlaceFigures> Place> void visitFields(Visitor &&visit, Place &place) {
  visit("own", place.own);
  visit("file", place.file);
  visit("line", place.line);
  visit("column", place.column);
  visit("function", place.function);
  visit("variable", place.variable);
  visit("type", place.type);
  visit("callee", place.callee);
  visit("library", place.library);
  visit("offset", place.offset);
  visit("heap", place.heap);
  visit("child", place.child);
  visit("bytes", place.bytes);
  visit("count", place.count);
}

} // namespace msleaks::analysis
