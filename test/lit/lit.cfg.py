# Runs the tests of the pass. A test is a source file. Its RUN lines compile this file with the plugin, and check the IR, the table in the
# object, or the output of a program:
#
#   %build_c -O2 && %plain       without any library of msleaks: the program behaves as without the plugin
#   %build_c -O2 && %logged      with a runtime that prints each callback; FileCheck reads its output
import glob
import os

import lit.formats

config.name = f"MemPass for LLVM {config.llvm_version}"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".c", ".cpp", ".cu", ".ll", ".test"]
config.excludes = ["inputs"]
config.test_source_root = os.path.dirname(__file__)

# The user's own environment variables must not affect the compiler or the program.
config.environment["PATH"] = os.pathsep.join([config.llvm_tools, os.environ["PATH"]])
for variable in ("MSLEAKS_PASS", "MSLEAKS_LINK", "MSLEAKS_SESSION", "LD_PRELOAD"):
    config.environment.pop(variable, None)

# These features exist only in some LLVM versions.
version = int(config.llvm_version)
if version >= 17:
    config.available_features |= {"fat-lto", "cuda-without-sdk", "annotated-declarations"}
    config.available_features.add("named-openmp-regions")  # the name of a region contains the name of its function
if version >= 18:
    config.available_features.add("default-attributes")  # a function that a pass adds gets the module's attributes
if version >= 19:
    config.available_features.add("rewrite-in-link")  # see compat.h

# Debian has the sanitizers' libraries in a package of their own.
if glob.glob(f"{config.llvm_tools}/../lib/clang/*/lib/*/libclang_rt.asan*.a"):
    config.available_features.add("sanitizers")

inputs = os.path.join(config.test_source_root, "inputs")
plugin = f"-fpass-plugin={config.plugin}"
clang = f"{config.llvm_tools}/clang"
standins = f"-L{config.lit_inputs} -llit_standins -Wl,-rpath,{config.lit_inputs}"
log_runtime = f"{config.lit_inputs}/liblit_log_runtime.so"
lld = f"-fuse-ld={config.llvm_tools}/ld.lld"

# Longer names come first, because lit replaces text without checking where a name ends.
config.substitutions += [
    ("%{log_runtime}", log_runtime),
    ("%{plugin}", config.plugin),
    ("%{inputs}", inputs),
    ("%{lld}", lld),
    ("%{load}", f"-Wl,--load-pass-plugin={config.plugin}"),
    ("%{root}", config.source_root),
    ("%{python}", config.python),
    ("%build_cxx", f"{clang}++ -Wno-everything -g -I{inputs} {plugin} %s -o %t {standins}"),
    ("%build_c", f"{clang} -Wno-everything -g -I{inputs} {plugin} %s -o %t {standins}"),
    ("%plain", "%t"),
    ("%logged", f"env LD_PRELOAD={log_runtime} %t 2>&1"),
    ("%clangxx", f"{clang}++ -Wno-everything -I{inputs} {plugin}"),
    ("%clang", f"{clang} -Wno-everything -I{inputs} {plugin}"),
    # These two substitutions print the IR before any pass runs, as the pass msl-mark gets it.
    ("%emit_cxx", f"{clang}++ -Wno-everything -I{inputs} -g -S -emit-llvm -Xclang -disable-llvm-passes %s -o -"),
    ("%emit_c", f"{clang} -Wno-everything -I{inputs} -g -S -emit-llvm -Xclang -disable-llvm-passes %s -o -"),
    ("%opt", f"{config.llvm_tools}/opt -load-pass-plugin={config.plugin}"),
    ("%llc", f"{config.llvm_tools}/llc"),
    ("%sites", f"{config.python} {inputs}/print_table.py {config.llvm_tools}/llvm-objcopy"),
]
