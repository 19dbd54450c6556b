#include "analysis/findings/causes.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>

namespace msleaks::analysis {
namespace {

std::shared_ptr<const SiteText> callAt(const std::string &file, uint32_t line) {
  auto call = std::make_shared<SiteText>();
  call->origin = SiteOrigin::Python;
  call->file = file;
  call->function = "step";
  call->line = line;
  return call;
}

// Growth of tensors that train.py made at `line`, in a call at line 30 of the same file.
Finding growthAt(uint32_t line, uint64_t bytes, abi::Heap heap = abi::Heap::Host, uint64_t first_step = 1) {
  Finding finding;
  finding.kind = "growth";
  finding.owner = "pytorch@operator@aten::linear";
  finding.heap = heap;
  finding.bytes = bytes;
  finding.evidence = {{"growth_bytes_per_step", bytes / 10}, {"first_step", first_step}};
  finding.site = *callAt("/home/me/train.py", line);
  PathLine path;
  path.calls = {callAt("/home/me/train.py", line), callAt("/usr/lib/python3/dist-packages/torch/nn/module.py", 9),
                callAt("/home/me/train.py", 30)};
  finding.paths = {path};
  return finding;
}

using Named = std::vector<std::pair<uint32_t, uint64_t>>; // line and family of each finding

Named named(std::vector<Finding> findings) {
  nameCauses(findings);
  Named result;
  for (const Finding &finding : findings)
    result.emplace_back(finding.site.line, finding.family);
  return result;
}

TEST(Causes, TensorsOfOneGraphHaveOneCause) {
  std::vector<Finding> findings{growthAt(9, 300), growthAt(12, 200)};
  nameCauses(findings);
  EXPECT_EQ(findings[0].family, findings[1].family);
  EXPECT_EQ(findings[1].family_bytes, 500u);
  EXPECT_EQ(named({growthAt(9, 300)}), (Named{{9, 0}}));
}

TEST(Causes, FamiliesOfLeaksKeepTheirNumbers) {
  Finding leak = growthAt(5, 100);
  leak.kind = "leak";
  leak.family = 3;
  EXPECT_EQ(named({leak, growthAt(9, 300), growthAt(12, 200)}), (Named{{5, 3}, {9, 4}, {12, 4}}));
}

TEST(Causes, AnotherStepOrCallerOrPhaseIsAnotherCause) {
  Finding elsewhere = growthAt(12, 200);
  elsewhere.paths[0].calls = {callAt("/home/me/train.py", 12), callAt("/home/me/train.py", 31)};
  Finding backward = growthAt(13, 200);
  backward.owner = "pytorch@backward@AddmmBackward0";
  EXPECT_EQ(named({growthAt(9, 300), elsewhere}), (Named{{9, 0}, {12, 0}}));
  EXPECT_EQ(named({growthAt(9, 300), backward}), (Named{{9, 0}, {13, 0}}));
  EXPECT_EQ(named({growthAt(9, 300), growthAt(12, 200, abi::Heap::Host, 8)}), (Named{{9, 0}, {12, 0}}));
}

// A library's call is on the paths of unrelated allocations.
TEST(Causes, OnlyCallsOfTheUsersCodeJoin) {
  Finding left = growthAt(9, 300), right = growthAt(12, 200);
  left.paths[0].calls.pop_back();
  right.paths[0].calls.pop_back();
  EXPECT_EQ(named({left, right}), (Named{{9, 0}, {12, 0}}));
}

TEST(Causes, SegmentsAreLeftOutIfTheirPartsGrow) {
  const auto pool = abi::Heap::Pool, device = abi::Heap::Device;
  EXPECT_EQ(named({growthAt(9, 300, pool), growthAt(9, 320, device)}), (Named{{9, 0}}));
  EXPECT_EQ(named({growthAt(9, 100, pool), growthAt(9, 320, device)}), (Named{{9, 1}, {9, 1}}));
  EXPECT_EQ(named({growthAt(9, 300, pool), growthAt(12, 320, device)}), (Named{{9, 1}, {12, 1}}));
}

} // namespace
} // namespace msleaks::analysis
