#include <gtest/gtest.h>

#include <cstring>

namespace msleaks::test {
int recordOneAndLeave();
}

int main(int argc, char **argv) {
  if (argc == 2 && std::strcmp(argv[1], "--record-one") == 0)
    return msleaks::test::recordOneAndLeave();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
