#include "analysis/text/paths.h"

#include "analysis/base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis::inline text {

std::vector<PathBlocks> blocksByPath(const SiteLine &line) {
  std::vector<PathBlocks> list;
  uint64_t bytes = line.bytes, count = line.count;
  for (const PathLine &path : line.paths) {
    PathBlocks &blocks = list.emplace_back(PathBlocks{{}, path.bytes, path.count});
    for (const auto &call : path.calls)
      blocks.calls.push_back(call.get());
    if (blocks.calls.empty())
      blocks.calls.push_back(&line.site);
    bytes -= std::min(bytes, path.bytes);
    count -= std::min(count, path.count);
  }
  if (bytes != 0 || count != 0)
    list.push_back({{&line.site}, bytes, count});
  return list;
}

std::string functionOf(const SiteText &call, const FrameText &frame) {
  if (!frame.function.empty())
    return frame.function;
  if (!frame.file.empty())
    return fmt::format("{}:{}", frame.file, frame.line);
  if (call.library.empty())
    return "(unknown place)";
  const std::string_view library = baseName(call.library);
  return call.offset == 0 ? std::string(library) : fmt::format("{}+{:#x}", library, call.offset);
}

} // namespace msleaks::analysis::inline text
