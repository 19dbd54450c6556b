#!/usr/bin/env python3
"""Packs a Python wheel from a build of msleaks, and prints its path. scripts/wheel.sh builds msleaks for it.

    pack_wheel.py REPOSITORY BUILD FOLDER

The libraries that the programs need are copied into the wheel, except those of glibc and gcc, which every system has. The
name of the wheel contains the oldest glibc that has the symbols of all these files (PEP 600). Files of equal content give a
wheel of equal content.
"""
import base64
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PROGRAMS = ("msleaks", "msleaks-run")
LIBRARIES = ("libmsleaks_rt.so", "libmsleaks_hooks.so", "libascend_kernel_hook.so")
NATIVE = "msleaks/_native"
BUNDLED = f"{NATIVE}/lib/bundled"  # the rpath of the preset `wheel` names this folder
# Libraries that PEP 600 expects on each system.
OF_THE_SYSTEM = re.compile(r"(?:libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|ld-linux-[\w-]+)\.so")
# The oldest glibc of the systems whose libstdc++ has all these versions of symbols, newest last. The pairs are those of
# auditwheel's policies.
GLIBC_OF_LIBSTDCXX = {(3, 4, 28): (2, 31), (3, 4, 29): (2, 34), (3, 4, 30): (2, 35)}
DATE = (1980, 1, 1, 0, 0, 0)

METADATA = """\
Metadata-Version: 2.1
Name: msleaks
Version: {version}
Summary: Shows which lines of a Python, C or C++ program allocate its memory, on the host and on accelerators
License: Apache-2.0 WITH LLVM-exception
Requires-Python: >=3.9
"""
# The plug-in has the name of its module. So pytest accepts `-p msleaks.pytest_plugin` also with the wheel.
ENTRY_POINTS = """\
[console_scripts]
msleaks = msleaks._tools:msleaks
msleaks-run = msleaks._tools:msleaks_run

[pytest11]
msleaks.pytest_plugin = msleaks.pytest_plugin
"""


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def libraries_of(program):
    """Returns the libraries of other projects that a program loads, directly or indirectly, as {name: path}."""
    listed = output("ldd", program)
    if "not found" in listed:
        sys.exit(f"pack_wheel: a library is missing: {listed}")
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", listed, re.M))
    return {name: Path(path).resolve() for name, path in found.items() if not OF_THE_SYSTEM.match(name)}


def symbol_versions(file, name):
    """Returns the newest version of the symbols of a kind (GLIBC, GLIBCXX) that a file needs, or an empty tuple."""
    needed = re.sub(r"^Version definitions:.*?(?=^Version References:|\Z)", "", output("objdump", "-p", file), flags=re.M | re.S)
    versions = re.findall(rf"\b{name}_([\d.]+)", needed)
    return max((tuple(map(int, version.split("."))) for version in versions), default=())


def platform_of(files):
    """Returns the platform tag of a wheel with these files: the oldest glibc on which they run."""
    machine = output("uname", "-m").strip()
    glibc = max(symbol_versions(file, "GLIBC") for file in files)
    libstdcxx = max(symbol_versions(file, "GLIBCXX") for file in files)
    for known, oldest in GLIBC_OF_LIBSTDCXX.items():
        if libstdcxx <= known:
            return "manylinux_{}_{}_{}".format(*max(glibc, oldest)[:2], machine)
    return f"linux_{machine}"  # it is not known which systems have this libstdc++


def copyright_of(library):
    """Returns the licence of a library, which Debian's packages contain, or None."""
    for name in (library, Path("/") / library.relative_to("/usr")) if library.is_relative_to("/usr") else (library,):
        owner = subprocess.run(["dpkg", "-S", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if owner.returncode == 0:
            text = Path("/usr/share/doc") / owner.stdout.split(":")[0] / "copyright"
            return text if text.exists() else None
    return None


def contents(repository, build, stripped):
    """Returns {name in the wheel: file}. `stripped` is a folder for stripped copies."""
    def strip(source, name):
        target = stripped / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
        subprocess.run(["strip", "--strip-unneeded", target], check=True)
        return target

    package = repository / "tools/python"
    files = {str(file.relative_to(package)): file for file in sorted((package / "msleaks").rglob("*")) if file.suffix in (".py", ".typed")}
    native = {f"{NATIVE}/bin/{name}": build / "bin" / name for name in PROGRAMS}
    native |= {f"{NATIVE}/lib/{name}": build / "lib" / name for name in LIBRARIES}
    others = {name: path for program in PROGRAMS for name, path in libraries_of(build / "bin" / program).items()}
    native |= {f"{BUNDLED}/{name}": path for name, path in others.items()}
    licences = {f"licenses/{name}.txt": copyright_of(path) for name, path in others.items()}
    without = [name for name, text in licences.items() if text is None]
    if without:
        sys.exit(f"pack_wheel: no licence was found for {', '.join(without)}: install these libraries from packages of Debian")
    return {**files, **{name: strip(path, name) for name, path in native.items()}}, {"licenses/LICENSE": repository / "LICENSE", **licences}


class Wheel:
    """Writes the files of a wheel, and their digests into RECORD."""

    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, content, executable=False):
        entry = zipfile.ZipInfo(name, DATE)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        self.zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}\n")

    def close(self, record):
        self.add(record, "".join([*self.record, f"{record},,\n"]).encode())
        self.zip.close()


def main():
    repository, build, folder = (Path(argument).resolve() for argument in sys.argv[1:4])
    version = re.search(r"project\(msleaks VERSION ([\d.]+)", (repository / "CMakeLists.txt").read_text())[1]
    with tempfile.TemporaryDirectory() as scratch:
        files, information = contents(repository, build, Path(scratch))
        platform = platform_of([file for name, file in files.items() if name.startswith(NATIVE)])
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"msleaks-{version}-py3-none-{platform}.whl"
        wheel = Wheel(path)
        for name, file in files.items():
            wheel.add(name, file.read_bytes(), name.startswith(f"{NATIVE}/bin/"))
        about = f"msleaks-{version}.dist-info"
        for name, file in information.items():
            wheel.add(f"{about}/{name}", file.read_bytes())
        wheel.add(f"{about}/METADATA", METADATA.format(version=version).encode())
        wheel.add(f"{about}/WHEEL", f"Wheel-Version: 1.0\nGenerator: msleaks\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n".encode())
        wheel.add(f"{about}/entry_points.txt", ENTRY_POINTS.encode())
        wheel.close(f"{about}/RECORD")
    print(path)


if __name__ == "__main__":
    main()
