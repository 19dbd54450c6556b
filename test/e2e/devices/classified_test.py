#!/usr/bin/env python3
"""Compares three things: the functions that a driver's headers declare, the hooks that libmsleaks_hooks.so exports, and the list
   hooks/DRIVER/unhooked.txt. Each function has a hook, or the list names it below a reason. docs/devices.md has the numbers.
   usage: classified_test.py BUILD SCRATCH ascend|cuda|hip|level_zero|opencl
"""
import os
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, arguments, check, need, run, skip  # noqa: E402
from vendor_headers import OF_ALL_VERSIONS, declared, fetched  # noqa: E402

NOT_SEEN = "Not seen yet: "


@dataclass(frozen=True)
class Header:
    """A part of a driver: how its functions' names begin, and a header in each of the folders. `more` is a pattern of what may follow the
    prefix, before a capital letter. `also`: further headers."""
    part: str
    prefix: str
    name: str
    folders: tuple
    options: tuple = ()
    more: str = ""
    also: tuple = ()

    def functions(self):
        return set().union(*(self.functions_of(Path(folder) / name, folder) for folder in self.folders for name in (self.name, *self.also)))

    def functions_of(self, file, folder):
        return {name for name in declared(file, f"-I{folder}", *self.options) if self.owns(name)}

    def owns(self, name):
        return re.fullmatch(self.prefix + self.more + r"[A-Z]\w*", name) is not None


def headers_of(driver):
    if driver == "cuda":
        folders = (fetched("cuda", "12"), fetched("cuda", "13"))
        return [Header("CUDA's driver", "cu", "cuda.h", folders, (OF_ALL_VERSIONS,)),
                Header("CUDA's runtime library", "cuda", "cuda_runtime_api.h", folders, (OF_ALL_VERSIONS,))]
    if driver == "hip":
        return [Header("HIP 5.2", "hip", "hip/hip_runtime_api.h", (fetched("hip"),), ("-D__HIP_PLATFORM_AMD__", "-D__HIP_DISABLE_CPP_FUNCTIONS__"))]
    if driver == "ascend":
        return [Header("ACL, as in torch_npu 2.14", "acl", "acl/acl.h", (fetched("cann"),), more="[a-z]*", also=("acl/acl_rt_allocator.h", "acl/acl_rt_memory_soma.h"))]
    if driver == "level_zero":
        if not os.path.exists("/usr/include/level_zero/ze_api.h"):
            skip("no /usr/include/level_zero/ze_api.h (Debian's package libze-dev)")
        return [Header("Level Zero", "ze", "level_zero/ze_api.h", ("/usr/include",))]
    if not os.path.exists("/usr/include/CL/cl_ext.h"):
        skip("no /usr/include/CL/cl_ext.h (Debian's package opencl-c-headers)")
    return [Header("OpenCL 3.0, with extensions", "cl", "CL/cl_ext.h", ("/usr/include",), ("-DCL_TARGET_OPENCL_VERSION=300", "-DCL_USE_DEPRECATED_OPENCL_1_0_APIS"))]


@dataclass
class Group:
    """Functions below one reason. If there is a version, the header of another version need not declare them."""
    reason: str
    version: str
    names: list


def groups_of(text):
    """Reads the list. Blocks are separated by empty lines. A block without names is a comment."""
    groups = []
    for block in re.split(r"\n\n+", text):
        lines = block.splitlines()
        reason = " ".join(line[1:].strip() for line in lines if line.startswith("#"))
        names = [name for line in lines if not line.startswith("#") for name in line.split()]
        if names:
            text, version = re.fullmatch(r"(.*?)(?: \[(.*)\])?", reason).groups()
            groups.append(Group(text, version, names))
    return groups


def faults(functions, hooked, groups):
    """Returns what is wrong, one text for each kind of fault."""
    counts = Counter(name for group in groups for name in group.names)
    bound = {name for group in groups if group.version is None for name in group.names}
    found = {"have no hook and no reason": functions - hooked - set(counts),
             "have a hook and a reason why not": set(counts) & hooked,
             "are in no header": bound - functions,
             "have two reasons": {name for name, count in counts.items() if count > 1},
             "are below an empty reason": {name for group in groups if len(group.reason) < 10 for name in group.names},
             "are not sorted": {name for group in groups for before, name in zip(group.names, group.names[1:]) if name < before}}
    return [f"{len(names)} functions {what}: {' '.join(sorted(names))}" for what, names in found.items() if names]


def row(part, functions, hooked, groups):
    listed = {name: group.reason.startswith(NOT_SEEN) for group in groups for name in group.names if name in functions}
    not_seen = sum(listed.values())
    return f"| {part} | {len(functions)} | {len(functions & hooked)} | {len(listed) - not_seen} | {not_seen} |"


def rows(headers, hooked, groups):
    """Returns the rows for docs/devices.md: one for each header, and one for functions that only later versions have."""
    declared_by = [(header, header.functions()) for header in headers]
    found = [row(header.part, functions, hooked, groups) for header, functions in declared_by]
    for version in sorted({group.version for group in groups if group.version is not None}):
        header, functions = declared_by[0]
        later = {name for group in groups if group.version == version for name in group.names}
        hooks = {name for name in hooked - functions if header.owns(name)}
        found.append(row(f"{version}, besides", later | hooks, hooked, groups))
    return found


def exported(library):
    done = run([need("nm"), "-D", "--defined-only", library])
    check(done.returncode == 0, done.stderr)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


def check_itself(scratch, header, functions, hooked, groups):
    """Each kind of fault must be found. A header with one more function is made for this."""
    invented = f"{header.prefix}InventedForThisTest"
    made = Path(scratch) / header.name
    made.parent.mkdir(parents=True, exist_ok=True)
    folder = header.folders[-1]
    made.write_text(f'#include "{folder}/{header.name}"\nint {invented}(int number);\n')
    more = header.functions_of(made, folder)
    check(invented in more and more <= functions | {invented}, f"{made}: the invented function changes other ones")
    listed, hook = groups[0].names[-1], sorted(functions & hooked)[0]
    for wrong, name, text in ((faults(functions | more, hooked, groups), invented, "have no hook and no reason"),
                              (faults(functions, hooked | {listed}, groups), listed, "have a hook and a reason why not"),
                              (faults(functions, hooked - {hook}, groups), hook, "have no hook and no reason"),
                              (faults(functions - {listed}, hooked, groups), listed, "are in no header"),
                              (faults(functions, hooked, [*groups, Group("Another reason.", None, [listed])]), listed, "have two reasons")):
        check(any(f"{text}: " in line and name in line.split() for line in wrong), f"nobody notices that {name} would be wrong: {wrong}")


def main():
    build, scratch, driver = arguments("build", "scratch", "driver")
    headers = headers_of(driver)
    hooked = exported(Path(build) / "lib/libmsleaks_hooks.so")
    path = REPOSITORY / f"hooks/{driver}/unhooked.txt"
    groups = groups_of(path.read_text())
    functions = set().union(*(header.functions() for header in headers))
    wrong = [f"{path.relative_to(REPOSITORY)}: {line}" for line in faults(functions, hooked, groups)]
    table = rows(headers, hooked, groups)
    print("\n".join(table))
    page = (REPOSITORY / "docs/devices.md").read_text().splitlines()
    wrong += [f"docs/devices.md lacks this row: {line}" for line in table if line not in page]
    check(not wrong, "\n".join(wrong))
    check_itself(scratch, headers[0], functions, hooked, groups)


if __name__ == "__main__":
    main()
