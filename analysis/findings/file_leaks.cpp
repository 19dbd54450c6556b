#include "analysis/findings/file_leaks.h"
#include "analysis/result/finding_kinds.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace msleaks::analysis::inline findings {
namespace {

bool isLeakOf(const Finding &finding, std::string_view type) {
  return isOf(finding, finding_kinds::kLeak) && finding.analyzer.empty() && finding.closed_library.empty() &&
         finding.allocator.type == type;
}

bool isOfOpenFiles(const Finding &finding) { return isOf(finding, finding_kinds::kHandles) && finding.part == "FILE"; }

// Whether so many FILEs of this place were opened again by freopen() that `handles` now contains them.
bool areReopenedIn(const Finding &handles, const FrameText &place, uint64_t count) {
  return isOfOpenFiles(handles) &&
         std::any_of(handles.reopened.begin(), handles.reopened.end(),
                     [&](const ReopenedFiles &files) { return files.allocated_at == place && files.count >= count; });
}

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
  const auto first = [&](auto isWanted) -> Finding * {
    for (size_t i = 0; i < findings.size(); ++i)
      if (!folded[i] && isWanted(*findings[i]))
        return findings[i];
    return nullptr;
  };
  // The finding about FILEs of this place, or else the one about these FILEs after freopen().
  const auto about = [&](const FrameText &place, uint64_t count, auto isWanted) {
    Finding *here = first([&](const Finding &finding) {
      return isWanted(finding) && static_cast<const FrameText &>(finding.site) == place;
    });
    return here ? here : first([&](const Finding &finding) { return areReopenedIn(finding, place, count); });
  };
  const auto isOfFiles = [](const Finding &finding) { return isOfOpenFiles(finding) || isLeakOf(finding, "FILE"); };
  Finding *most = nullptr; // gets buffers whose FILE is not known
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
  giveAll("FILE", [&](const Finding &leak) { return about(leak.site, leak.count, isOfOpenFiles); });
  giveAll("buffer of a FILE",
          [&](const Finding &leak) { return leak.holder == FrameText{} ? most : about(leak.holder, 0, isOfFiles); });
  return folded;
}

} // namespace msleaks::analysis::inline findings
