#!/usr/bin/env python3
"""Tests which arguments msleaks-clang passes to clang. In place of clang, the test uses a script that prints its arguments.

    wrapper_test.py BUILD_DIR LLVM_VERSION
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD, LLVM = Path(sys.argv[1]).resolve(), sys.argv[2]
PLUGIN = f"-fpass-plugin={BUILD}/lib/msleaks/llvm-{LLVM}/libMemPass.so"
ADDED = ["--start-no-unused-arguments", PLUGIN, "-g", "--end-no-unused-arguments"]
ECHO = """#!/bin/sh
printf '%s\\n' "pass=$MSLEAKS_PASS" "$@"
exit 7
"""


class Wrapper(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.work = Path(self.folder.name)
        self.echo = self.program("echo", ECHO)

    def tearDown(self):
        self.folder.cleanup()

    def program(self, name, text):
        path = self.work / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def run_it(self, *arguments, name="msleaks-clang", cwd=None, **environment):
        clean = {key: value for key, value in os.environ.items() if not key.startswith("MSLEAKS_")}
        return subprocess.run([BUILD / "bin" / name, *arguments], capture_output=True, text=True, cwd=cwd or self.work,
                              env={**clean, "MSLEAKS_LLVM": LLVM, "MSLEAKS_CLANG": str(self.echo), **environment})

    def seen(self, *arguments, **options):
        """Returns MSLEAKS_PASS and the arguments, as the compiler gets them."""
        done = self.run_it(*arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (7, ""))
        first, *rest = done.stdout.split("\n")[:-1]
        return first.removeprefix("pass="), rest

    def test_adds_the_plugin_before_the_arguments(self):
        words = ["-c", "a file.c", "", "-g0", "-o", "$HOME"]
        for name in ("msleaks-clang", "msleaks-clang++"):
            self.assertEqual(self.seen(*words, name=name), ("", ADDED + words))

    def test_keeps_the_variable_of_the_pass(self):
        self.assertEqual(self.seen("a.c", MSLEAKS_PASS="off"), ("off", [*ADDED, "a.c"]))

    def test_rows_are_a_dependency(self):
        words = [*ADDED[:-1], "-Xclang", "-fdepfile-entry=my.rows", ADDED[-1], "a.c"]
        self.assertEqual(self.seen("a.c", "--msl-rows=my.rows"), ("rows=my.rows", words))
        self.assertEqual(self.seen("--msl-rows=my.rows", "a.c", MSLEAKS_PASS="off"), ("off;rows=my.rows", words))

    def test_kernels_of_opencl(self):
        spirv = [*ADDED, "--target=spirv64", "-c"]
        for words in (["-x", "cl", "k.cl", "-o", "k.spv"], ["-xcl", "k.txt"], ["k.cl"]):
            self.assertEqual(self.seen(*words), ("cfg", [*spirv, *words]))
        self.assertEqual(self.seen("k.cl", "--msl-cfg=x", MSLEAKS_PASS="counters=all"),
                         ("counters=all;cfg=x", [*spirv, "k.cl"]))
        self.assertEqual(self.seen("-S", "k.cl"), ("cfg", [*ADDED, "--target=spirv64", "-S", "k.cl"]))
        self.assertEqual(self.seen("-target", "x", "-c", "k.cl"), ("cfg", [*ADDED, "-target", "x", "-c", "k.cl"]))
        self.assertEqual(self.seen("-c", "a.c", "-o", "a.cl"), ("", [*ADDED, "-c", "a.c", "-o", "a.cl"]))

    def test_loads_the_plugin_into_lld(self):
        load = PLUGIN.replace("-fpass-plugin=", "-Wl,--load-pass-plugin=")
        added = [*ADDED[:-1], load, ADDED[-1]]
        for lld in ("-fuse-ld=lld", "-fuse-ld=/usr/lib/llvm-22/bin/ld.lld", "--ld-path=/usr/bin/ld.lld"):
            self.assertEqual(self.seen(lld, "a.o"), ("", [*added, lld, "a.o"]))
            for lto in ("-flto", "-flto=thin"):
                self.assertEqual(self.seen(lto, lld, "a.c"), ("link", [*added, lto, lld, "a.c"]))
        self.assertEqual(self.seen("-flto", "--msl-link", "a.c", MSLEAKS_PASS="rows=x"), ("rows=x;link", [*added, "-flto", "a.c"]))
        self.assertEqual(self.seen("-flto", "-fno-lto", "-fuse-ld=lld", "a.c")[0], "")
        for other in ("-fuse-ld=bfd", "-fuse-ld=mold", "-flto"):
            self.assertEqual(self.seen("-flto", other, "a.c"), ("", [*ADDED, "-flto", other, "a.c"]))

    def test_plain(self):
        for option in (["--msl-off"], ["--msl-off", "--msl-rows=x"]):
            self.assertEqual(self.seen("-c", *option, "a.c"), ("", ["-c", "a.c"]))
        for value in ("off", "OFF", "0"):
            self.assertEqual(self.seen("a.c", MSLEAKS_WRAPPER=value), ("", ["a.c"]))
        for word in ("-cc1", "-cc1as", "conftest.c", "x/conftest.cpp", "cmTC_1a2b", "CMakeCCompilerId.c",
                     "x/CMakeCXXCompilerId.cpp", "b/meson-private/x.c"):
            self.assertEqual(self.seen(word, "--msl-rows=x"), ("", [word]))
        for folder in ("CMakeFiles/CMakeTmp", "CMakeFiles/CMakeScratch/TryCompile", "meson-private/tmp"):
            (self.work / folder).mkdir(parents=True)
            self.assertEqual(self.seen("a.c", cwd=self.work / folder), ("", ["a.c"]))

    def test_names_that_only_look_like_probes(self):
        for word in ("myconftest.c", "-cc1x", "meson-private", "CMakeFiles/x.c"):
            self.assertEqual(self.seen(word), ("", [*ADDED, word]))
        self.assertEqual(self.seen("a.c", MSLEAKS_WRAPPER="on"), ("", [*ADDED, "a.c"]))

    def test_finds_the_compiler_in_the_path(self):
        for name, compiler in (("msleaks-clang", f"clang-{LLVM}"), ("msleaks-clang++", f"clang++-{LLVM}")):
            self.program(compiler, ECHO)
            path = f"{self.work}:{os.environ['PATH']}"
            self.assertEqual(self.seen("a.c", name=name, MSLEAKS_CLANG="", PATH=path), ("", [*ADDED, "a.c"]))

    def test_behind_links(self):
        link = self.work / "cc"
        link.symlink_to(BUILD / "bin" / "msleaks-clang")
        self.assertEqual(self.seen("a.c", name=link), ("", [*ADDED, "a.c"]))

    def refused(self, status, *arguments, **environment):
        done = self.run_it(*arguments, **environment)
        self.assertEqual((done.returncode, done.stdout), (status, ""))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("msleaks-clang: "), done.stderr)
        return done.stderr

    def test_refuses(self):
        self.assertIn("clang-none: not found", self.refused(127, "a.c", MSLEAKS_CLANG="clang-none"))
        self.assertIn("not found", self.refused(127, "a.c", MSLEAKS_CLANG=str(self.work)))
        self.assertIn("no plugin for LLVM 3, set MSLEAKS_LLVM", self.refused(2, "a.c", MSLEAKS_LLVM="3"))
        for option in ("--msl-row=x", "--msl-rows=", "--msl-rows", "--msl-offf"):
            self.assertIn(f"unknown option '{option}'", self.refused(2, "a.c", option))
        lost = self.program("lost", "#!/nowhere/sh\n")
        self.assertIn("lost: No such file", self.refused(126, "a.c", MSLEAKS_CLANG=str(lost)))

    def test_ninja_sees_the_rows(self):
        (self.work / "a.c").write_text("int main(void) { return 0; }\n")
        (self.work / "my.rows").write_text("free put address=0\n")
        done = self.run_it("--msl-rows=my.rows", "-MD", "-c", "a.c", MSLEAKS_CLANG="")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("my.rows", (self.work / "a.d").read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
