#include "analysis/findings/file_leaks.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace msleaks::analysis {
namespace {

bool isLeakOf(const Finding &finding, std::string_view type) {
  return finding.kind == "leak" && finding.analyzer.empty() && finding.closed_library.empty() &&
         finding.allocator.type == type;
}

bool isOfOpenFiles(const Finding &finding) { return finding.kind == "handles" && finding.part == "FILE"; }

void addTo(Evidence &evidence, std::string_view wanted, uint64_t more) {
  for (auto &[name, value] : evidence)
    if (auto *number = std::get_if<uint64_t>(&value); number && name == wanted) {
      *number += more;
      return;
    }
  evidence.emplace_back(wanted, more);
}

void give(const Finding &leak, Finding &to) {
  if (!isOfOpenFiles(to))
    return;
  addTo(to.evidence, "keeps_bytes", leak.bytes);
  addTo(to.evidence, "keeps_blocks", leak.count);
}

} // namespace

std::vector<bool> foldFileLeaks(std::span<Finding *const> findings) {
  std::vector<bool> folded(findings.size());
  const auto at = [&](const FrameText &place, auto isWanted) -> Finding * {
    for (size_t i = 0; i < findings.size(); ++i)
      if (!folded[i] && isWanted(*findings[i]) && static_cast<const FrameText &>(findings[i]->site) == place)
        return findings[i];
    return nullptr;
  };
  const auto isOfFiles = [](const Finding &finding) { return isOfOpenFiles(finding) || isLeakOf(finding, "FILE"); };
  Finding *most = nullptr; // for buffers of which nobody knows whose they are
  for (Finding *finding : findings)
    if (isOfOpenFiles(*finding) && (!most || finding->count > most->count))
      most = finding;
  const auto giveAll = [&](std::string_view type, auto targetOf) {
    for (size_t i = 0; i < findings.size(); ++i)
      if (Finding *target = isLeakOf(*findings[i], type) ? targetOf(*findings[i]) : nullptr) {
        give(*findings[i], *target);
        folded[i] = true;
      }
  };
  giveAll("FILE", [&](const Finding &leak) { return at(leak.site, isOfOpenFiles); });
  giveAll("buffer of a FILE",
          [&](const Finding &leak) { return leak.holder == FrameText{} ? most : at(leak.holder, isOfFiles); });
  return folded;
}

} // namespace msleaks::analysis
