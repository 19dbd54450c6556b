#include "analysis/base/output.h"

#include "random_events.h"

#include <fstream>
#include <gtest/gtest.h>

namespace msleaks::analysis::test {
namespace {

namespace fs = std::filesystem;

TEST(OutputStream, IsThereAsAWholeOrNotAtAll) {
  const ScratchFolder folder;
  const fs::path path = folder / "out";
  {
    OutputStream out(*OutputFile::create(path));
    out << "half of it";
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_TRUE(fs::is_empty(path.parent_path())) << "a temporary file is left";
  const std::string much(200'000, 'x');
  OutputStream out(*OutputFile::create(path));
  out << "one " << 2 << '\n' << much;
  out.put('!');
  EXPECT_TRUE(out.good() && out.written() && out.commit());
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "one 2\n" + much + "!");
}

} // namespace
} // namespace msleaks::analysis::test
