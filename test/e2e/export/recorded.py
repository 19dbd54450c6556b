"""Records the programs that the tests of several formats export."""
import os
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "devices")]
from device_run import PROGRAMS, STANDINS, compile, sources_for, standin  # noqa: E402
from msleaks_e2e import REPOSITORY  # noqa: E402

HERE = Path(__file__).resolve().parent
INCLUDE = REPOSITORY / "runtime/include"
HOSTILE = ['a;b "c", \'d\'\n<e>{f}&\\ 7', "=1+1|%s\x1b[31m", b"not \xff UTF-8", "n" * 4096, "größe"]
SHOWN = ['a;b "c", \'d\'\\x0a<e>{f}&\\ 7', "=1+1|%s\\x1b[31m", "not \\xff UTF-8", "n" * 4096, "größe"]


def record_cuda(msleaks, scratch):
    """Records a program that uses CUDA. Returns the folder of the run, and the program's source."""
    folder = sources_for("cuda", [], str(scratch), PROGRAMS / "cuda.c", STANDINS / "cuda/cudart.cpp", STANDINS / "cuda/cuda_runtime_api.h")
    library = standin(str(scratch), "libcudart.so.12", folder / "cudart.cpp")
    compile("gcc", "-g", "-O1", f"-I{INCLUDE}", f"-I{folder}", folder / "cuda.c", library, f"-Wl,-rpath,{scratch}", "-o", scratch / "cuda")
    msleaks.run(scratch / "cuda-run", [scratch / "cuda"], options=["--no-report"])
    return scratch / "cuda-run", folder / "cuda.c"


def record_marks(msleaks, scratch):
    """Records a program that sets marks with the names HOSTILE. Returns the folder of the run."""
    compile("gcc", f"-I{INCLUDE}", HERE / "programs/marks.c", "-o", scratch / "marks")
    names = [os.fsencode(name) if isinstance(name, str) else name for name in HOSTILE]
    msleaks.run(scratch / "marks-run", [os.fsencode(scratch / "marks"), *names], options=["--no-report"])
    return scratch / "marks-run"
