#include "analysis/findings/causes.h"

#include "analysis/findings/torch_owner.h"
#include "analysis/result/finding_kinds.h"
#include "msleaks/abi/python_file.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace msleaks::analysis::inline findings {
namespace {

using Call = std::tuple<std::string, std::string, uint32_t>; // file, function, line

// Growths of one cause, by their numbers in the list.
struct Cause {
  uint64_t first_step;
  std::set<Call> calls; // that made the blocks of each member
  std::vector<size_t> members;
};

bool keepsGraph(const Finding &finding) {
  const auto owner = torchOwnerOf(finding.owner);
  return isOf(finding, finding_kinds::kGrowth) && owner && owner->phase == "forward" &&
         finding.site.origin == SiteOrigin::Python;
}

uint64_t firstStepOf(const Finding &finding) {
  for (const auto &[name, value] : finding.evidence)
    if (const auto *step = std::get_if<uint64_t>(&value); step && name == "first_step")
      return *step;
  return 0;
}

// The calls in the user's own Python code on the path with the most bytes.
std::set<Call> usersCallsOf(const Finding &finding) {
  std::set<Call> calls;
  if (finding.paths.empty())
    return calls;
  for (const auto &call : finding.paths.front().calls)
    if (call->origin == SiteOrigin::Python && abi::isUsersPython(call->file))
      calls.emplace(call->file, call->function, call->line);
  return calls;
}

std::set<Call> inBoth(const std::set<Call> &left, const std::set<Call> &right) {
  std::set<Call> both;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::inserter(both, both.end()));
  return both;
}

// Adds the finding to the first cause that fits, or as a new one.
void add(std::vector<Cause> &causes, const Finding &finding, size_t number) {
  const uint64_t first_step = firstStepOf(finding);
  std::set<Call> calls = usersCallsOf(finding);
  for (Cause &cause : causes)
    if (std::set<Call> common = inBoth(cause.calls, calls); cause.first_step == first_step && !common.empty()) {
      cause.calls = std::move(common);
      cause.members.push_back(number);
      return;
    }
  causes.push_back({first_step, std::move(calls), {number}});
}

// Whether the finding is about segments whose parts are another finding of the same line.
bool isOfSegments(const Finding &finding, const std::vector<Finding> &findings, const Cause &cause) {
  return finding.heap == abi::Heap::Device &&
         std::any_of(cause.members.begin(), cause.members.end(), [&](size_t other) {
           const Finding &parts = findings[other];
           return parts.heap == abi::Heap::Pool && parts.site.file == finding.site.file &&
                  parts.site.line == finding.site.line && parts.bytes >= finding.bytes / 2;
         });
}

void name(const Cause &cause, uint32_t family, std::vector<Finding> &findings) {
  uint64_t bytes = 0;
  for (const size_t member : cause.members)
    bytes += findings[member].bytes;
  for (const size_t member : cause.members) {
    findings[member].family = family;
    findings[member].family_bytes = bytes;
  }
}

} // namespace

void nameCauses(std::vector<Finding> &findings) {
  std::vector<Cause> causes;
  uint32_t family = 0;
  for (size_t i = 0; i < findings.size(); ++i) {
    family = std::max(family, findings[i].family);
    if (keepsGraph(findings[i]))
      add(causes, findings[i], i);
  }
  std::vector<bool> gone(findings.size());
  for (Cause &cause : causes) {
    for (const size_t member : cause.members)
      gone[member] = isOfSegments(findings[member], findings, cause);
    std::erase_if(cause.members, [&](size_t member) { return gone[member]; });
    if (cause.members.size() > 1)
      name(cause, ++family, findings);
  }
  size_t number = 0;
  std::erase_if(findings, [&](const Finding &) { return gone[number++]; });
}

} // namespace msleaks::analysis::inline findings
