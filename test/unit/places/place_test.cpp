#include "analysis/places/place.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {

TEST(SystemImage, IsADistributions) {
  for (const char *path : {"/usr/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/usr/bin/python3.11"})
    EXPECT_TRUE(isSystemImage(path)) << path;
  for (const char *path : {"/home/u/train", "/opt/app/lib/libmodel.so", "/home/u/usr/lib/libc.so.6", "train", ""})
    EXPECT_FALSE(isSystemImage(path)) << path;
}

TEST(SystemImage, IsAnInterpretersWhereverItLies) {
  for (const char *path :
       {"/home/u/.pyenv/versions/3.11.7/bin/python3.11", "/home/u/miniconda3/bin/python3.12", "/home/u/venv/bin/python",
        "/opt/python/bin/python3.13t", "/home/u/.pyenv/versions/3.11.7/lib/libpython3.11.so.1.0",
        "/home/u/miniconda3/lib/python3.12/lib-dynload/_json.cpython-312-x86_64-linux-gnu.so"})
    EXPECT_TRUE(isSystemImage(path)) << path;
  for (const char *path : {"/home/u/pythonic", "/home/u/python-app/server"})
    EXPECT_FALSE(isSystemImage(path)) << path;
}

TEST(SystemImage, IsAnInstalledPythonPackages) {
  for (const char *path : {"/home/u/venv/lib/python3.12/site-packages/torch/lib/libtorch_cpu.so",
                           "/usr/local/lib/python3/dist-packages/numpy/core/_multiarray_umath.so"})
    EXPECT_TRUE(isSystemImage(path)) << path;
  for (const char *path : {"/home/u/train/build/own.cpython-312-x86_64-linux-gnu.so", "/home/u/packages/own.so"})
    EXPECT_FALSE(isSystemImage(path)) << path;
}

} // namespace msleaks::analysis
