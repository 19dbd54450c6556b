"""Builds the programs that embed Python, against the headers and the library of one Python."""
import json
import os
import subprocess
from pathlib import Path

from msleaks_e2e import check, need, skip

PROGRAMS = Path(__file__).parent / "programs"
ASKED = "import json, sys, sysconfig as s; print(json.dumps([s.get_config_var(n) for n in ('INCLUDEPY', 'LIBDIR', 'LDLIBRARY')] + [sys.version_info[:2]]))"


def configuration_of(python):
    return json.loads(subprocess.run([need(python), "-c", ASKED], stdout=subprocess.PIPE, text=True, check=True).stdout)


def version_of(python):
    return tuple(configuration_of(python)[3])


def has_global_lock(python):
    asked = "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
    return subprocess.run([need(python), "-c", asked], stdout=subprocess.PIPE, text=True, check=True).stdout == "0\n"


def library_of(python):
    """Returns the path of libpython. Skips the test if this Python has none."""
    _, folder, name, _ = configuration_of(python)
    library = Path(folder) / name
    return library if library.suffix == ".so" and library.exists() else skip(f"{python} has no shared libpython")


def build_embedding(python, scratch, source):
    """Compiles a program that is linked to this Python. Skips the test if this Python has no headers."""
    headers = configuration_of(python)[0]
    if not os.path.exists(f"{headers}/Python.h"):
        skip(f"{python} has no headers ({headers}/Python.h)")
    library = library_of(python)
    os.makedirs(scratch, exist_ok=True)
    program = Path(scratch) / Path(source).stem
    command = [need("cc"), "-O2", "-g", f"-I{headers}", PROGRAMS / source, library, f"-Wl,-rpath,{library.parent}", "-pthread", "-o", program]
    check(subprocess.run(command).returncode == 0, f"{source} does not compile")
    return program
