#!/usr/bin/env python3
"""Compiles hooks and stand-ins together with the vendors' headers. The compiler rejects a prototype that differs from the vendor's.
   usage: headers_test.py BUILD SCRATCH
"""
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, arguments, check, need, run  # noqa: E402
from vendor_headers import OF_ALL_VERSIONS, declared, fetched  # noqa: E402


def builds(source, *options):
    return run([need("g++"), "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", f"-I{REPOSITORY}/runtime/include", f"-I{REPOSITORY}/hooks", "-DMSL_VENDOR_HEADERS", *options, source])


def expect_built(whose, *words):
    options, sources = [word for word in words if word.startswith("-")], [word for word in words if not word.startswith("-")]
    for source in sources:
        done = builds(REPOSITORY / source, *options)
        check(done.returncode == 0, f"{source} does not build with {whose} headers:\n{done.stderr}")


# Compares two function types. Each parameter's type in the stand-in must have the size and the class (integer or floating point) of the
# vendor's type. So a pointer may stand for a handle, and an integer for an enumeration.
PASSED_ALIKE = """
template <class Ours, class Theirs>
constexpr bool kAlike = sizeof(Ours) == sizeof(Theirs) && std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs>;
template <class Ours, class Theirs> struct PassedAlike : std::false_type {};
template <class Ours, class... Given, class Theirs, class... Taken>
  requires(sizeof...(Given) == sizeof...(Taken))
struct PassedAlike<Ours (*)(Given...), Theirs (*)(Taken...)> : std::bool_constant<kAlike<Ours, Theirs> && (kAlike<Given, Taken> && ...)> {};
"""


OLDER = {"cudaGraphInstantiate"}  # the stand-in has CUDA 11's declaration, which differs; the hook handles both declarations


def comparison(source, text, header, names):
    """Returns a source that contains the stand-in, in a namespace of its own, and then the vendor's header. A static_assert compares
    the types of each function in `names`."""
    lines = text.replace('extern "C" {', "inline namespace abi {").splitlines()
    outside = [line for line in lines if re.match(r'#include (<|"\.\.)', line)]
    inside = [line for line in lines if line not in outside]
    asserts = [f'static_assert(PassedAlike<decltype(&ours::{name}), decltype(&::{name})>::value, "{name}");' for name in names]
    return "\n".join(["#include <type_traits>", *outside, "namespace ours {", f'#line 1 "{source.name}"', *inside, "}", f'#include "{header}"', PASSED_ALIKE, *asserts])


def compared(scratch, source, header, *options, change=lambda text: text):
    """Compiles the comparison of a stand-in with the vendor's header. Returns the compiler's result, and the names of the compared
    functions."""
    text = change(source.read_text())
    defined = set(re.findall(r"^(?:\w[\w ]*[ *])(\w+)\(.*\) *\{", re.sub(r",\n\s+", ", ", text), re.MULTILINE))
    names = sorted((defined & declared(Path(options[0][2:]) / header, OF_ALL_VERSIONS, *options)) - OLDER)
    made = Path(scratch) / f"compared-{source.stem}.cpp"
    made.write_text(comparison(source, text, header, names))
    return run([need("g++"), "-std=c++20", "-fsyntax-only", "-w", OF_ALL_VERSIONS, *options, f"-I{source.parent}", made]), names


# {stand-in: (the vendor's header, smallest allowed number of functions that both declare)}
COMPARED = {"libcuda.cpp": ("cuda.h", 26), "libcuda_capture.cpp": ("cuda.h", 6), "libcuda_contexts.cpp": ("cuda.h", 34), "libcuda_copies.cpp": ("cuda.h", 34),
            "libcuda_imports.cpp": ("cuda.h", 8),             "libcuda_memory.cpp": ("cuda.h", 17), "libcuda_modules.cpp": ("cuda.h", 32), "cudart_handles.cpp": ("cuda_runtime_api.h", 16),
            "cudart_static.cpp": ("cuda_runtime_api.h", 11), "nvml.cpp": ("nvml.h", 4)}


def without_newer(text):
    """Removes the launch function that HIP 5 does not have."""
    return re.sub(r"hipError_t hipDrvLaunchKernelEx.*?\n}\n", "", text, flags=re.DOTALL)


def expect_alike(scratch, cuda, hip):
    made = [(name, least, header, compared(scratch, REPOSITORY / "test/standins/cuda" / name, header, cuda)) for name, (header, least) in COMPARED.items()]
    made.append(("amdhip.cpp", 11, "HIP's", compared(scratch, REPOSITORY / "test/standins/hip/amdhip.cpp", "hip_runtime_api.h", f"{hip}/hip", hip,
                                                      "-D__HIP_PLATFORM_AMD__", "-D__HIP_DISABLE_CPP_FUNCTIONS__", change=without_newer)))
    for name, least, header, (done, names) in made:
        check(done.returncode == 0, f"{name} is passed otherwise than {header} says:\n{done.stderr[:4000]}")
        check(len(names) >= least, f"{name}: only {len(names)} functions are compared: {names}")
    memory = REPOSITORY / "test/standins/cuda/libcuda_memory.cpp"
    done, _ = compared(scratch, memory, "cuda.h", cuda, change=lambda text: text.replace("cuMemRelease(unsigned long long handle)", "cuMemRelease(unsigned handle)"))
    check("cuMemRelease" in done.stderr, "a wrong prototype of a stand-in compiles")


def main():
    _, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    hip = f"-I{fetched('hip')}"
    expect_built("HIP's", hip, "-D__HIP_PLATFORM_AMD__", *(f"hooks/hip/{part}.cpp" for part in ("batches", "contexts", "copies", "graph_memory", "graphs", "launch_lists", "memory", "plain", "registered")))
    include = f"-I{fetched('cuda')}"
    hooks = [f"hooks/cuda/{part}.cpp" for part in ("batches", "contexts", "copies", "graphs", "launch_lists", "multicast", "nvml", "plain")]
    expect_built("CUDA's", include, OF_ALL_VERSIONS, *hooks, "hooks/cuda/graph_memory.cpp", "hooks/cuda/memory.cpp", "hooks/marks/nvtx.cpp")
    expect_built("CUDA's", include, *hooks, *(f"test/standins/cuda/cudart{part}.cpp" for part in ("", "_arrays", "_capture", "_imports")))
    expect_alike(scratch, include, hip)
    # Checks the test itself: a hook with a wrong prototype must not compile.
    table, wrong = REPOSITORY / "runtime/include/msleaks/abi/functions/gpu.def", Path(scratch) / "wrong.cpp"
    row, changed = "Malloc, (void **, size_t)", Path(scratch) / "gpu.def"
    check(row in table.read_text(), "cudaMalloc has moved")
    rows = (table.parent / "cuda.def").read_text().replace("msleaks/abi/functions/gpu.def", str(changed))
    wrong.write_text(f'#include "core/rows.h"\n#include "cuda/rows.h"\n#define MSL_PART_PLAIN\n{rows}')
    for change, compiles in ("size_t", True), ("int", False):
        changed.write_text(table.read_text().replace(row, f"Malloc, (void **, {change})"))
        check((builds(wrong, include).returncode == 0) == compiles, f"cudaMalloc(void **, {change}) {'does not compile' if compiles else 'compiles'}")


if __name__ == "__main__":
    main()
