// Tests the addresses of blocks in a memory snapshot of PyTorch. test/e2e/export reads whole snapshots.
#include "analysis/exporters/export_run.h"
#include "analysis/exporters/registry.h"
#include "analysis/exporters/snapshot_values.h"

#include "../report/report_fixture.h"

namespace msleaks::analysis {
namespace {

constexpr Where kPinned{.heap = abi::Heap::Pinned}, kHandle{.heap = abi::Heap::Device, .flags = abi::kDriver};

class PytorchExport : public ReportTest {
protected:
  std::string exportOf(const std::vector<StreamEvent> &list) {
    start(1, 4711);
    events(list);
    end(1, 0, kStart + 900);
    manifest();
    close();
    std::ostringstream out;
    EXPECT_TRUE(exportRun(run, *formatOf("pytorch"), out));
    return out.str();
  }
  // How often the number is in the pickle.
  static size_t countOf(const std::string &pickle, uint64_t number) {
    Pickle wanted;
    wanted.code().clear();
    wanted.number(number);
    size_t count = 0;
    for (size_t at = 0; (at = pickle.find(wanted.code(), at)) != std::string::npos; ++at)
      ++count;
    return count;
  }
  static constexpr uint64_t kFirstOwn = uint64_t{1} << 50, kAddress = 0x7012'3456'7000;
};

TEST_F(PytorchExport, BlocksHaveTheirAddresses) {
  const std::string pickle = exportOf({test::alloc(kStart + 100, kAddress, 50'000, kOne),
                                       test::alloc(kStart + 200, kAddress + 0x100000, 60'000, kPinned)});
  EXPECT_EQ(countOf(pickle, kAddress), 3u) << "the allocation, its segment, and the block in it";
  EXPECT_EQ(countOf(pickle, kAddress + 0x100000), 3u);
  EXPECT_EQ(countOf(pickle, kFirstOwn), 0u);
}

// A driver may take its memory from malloc.
TEST_F(PytorchExport, BlocksWithOneAddressAreApart) {
  const std::string pickle = exportOf(
      {test::alloc(kStart + 100, kAddress, 50'000, kOne), test::alloc(kStart + 200, kAddress, 50'000, kPinned)});
  EXPECT_EQ(countOf(pickle, kAddress), 3u);
  EXPECT_EQ(countOf(pickle, kFirstOwn), 3u);
}

TEST_F(PytorchExport, HandlesAreNoAddresses) {
  const std::string pickle = exportOf({test::alloc(kStart + 100, kAddress, 50'000, kHandle)});
  EXPECT_EQ(countOf(pickle, kAddress), 0u);
  EXPECT_EQ(countOf(pickle, kFirstOwn), 4u) << "the driver's block, the allocation, the segment, and the block in it";
}

} // namespace
} // namespace msleaks::analysis
