"""Contains the common code of the device tests. It builds stand-ins and programs, runs the programs with and without msleaks, and
counts the events of a run."""
import difflib
import json
import os
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, check, equal, expect_same, need, run  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"
STANDINS = REPOSITORY / "test/standins"
ROWS = [f"-I{REPOSITORY}/runtime/include", f"-I{REPOSITORY}/hooks"] # the table of functions, and the types in its rows
CACHED = ["ccache"] if shutil.which("ccache") else [] # many tests build the same stand-in, so ccache saves time


def compile(*command, **environment):
    done = run(command, env={**os.environ, **environment})
    check(done.returncode == 0, f"{' '.join(map(str, command))}: {done.stderr}")


def standin(folder, name, *sources, link=()):
    """Builds a library of test/standins. A program that is linked with the library finds it at run time."""
    library, objects = f"{folder}/{name}", []
    defined = [word for word in link if str(word).startswith("-D")]
    for source in *sources, STANDINS / "common/machine.cpp":
        objects.append(f"{folder}/{name}-{source.stem}.o")
        # Without -fno-gnu-unique, unique symbols would keep the library loaded after dlclose.
        compile(*CACHED, need("g++"), "-std=c++20", "-O1", "-g", "-fPIC", "-fno-gnu-unique", "-pthread", f"-I{sources[0].parent}", *ROWS, *defined, "-c", source,
                "-o", objects[-1], CCACHE_BASEDIR=str(REPOSITORY), CCACHE_NOHASHDIR="1")
    compile(need("g++"), "-shared", *objects, f"-Wl,-soname,{name}", "-o", library, *link, f"-Wl,-rpath,{folder}", "-pthread")
    return library


def sources_for(topic, names, scratch, *files):
    """Copies CUDA's program and stand-in, and returns the folder with the copies. For HIP, `names` has replacements of CUDA's names."""
    folder = Path(scratch) / "sources"
    (folder / "cuda").mkdir(parents=True, exist_ok=True)
    (folder / "common").unlink(missing_ok=True)
    (folder / "common").symlink_to(STANDINS / "common")
    for file in files:
        name, text = file.name, file.read_text()
        if topic.startswith("hip"):
            name = name.replace("cuda_runtime", "hip_runtime")
            for ours, theirs in names:
                text = re.sub(ours, theirs, text)
        (folder / "cuda" / name).write_text(text)
    return folder / "cuda"


def ascend(folder):
    """Builds the stand-ins of Ascend CANN's libraries: ACL, the driver and the runtime."""
    sources = STANDINS / "cann"
    driver = standin(folder, "libascend_hal.so", sources / "driver.cpp")
    runtime = standin(folder, "libruntime.so", sources / "runtime.cpp")
    return [standin(folder, "libascendcl.so", sources / "ascendcl.cpp", link=[driver, runtime]), driver, runtime]


def ascend_layers(folder):
    """Builds the stand-ins of CANN 8 and later. In these versions ACL forwards each call to another library."""
    sources = STANDINS / "cann"
    driver = standin(folder, "libascend_hal.so", sources / "driver.cpp")
    runtime = standin(folder, "libruntime.so", sources / "runtime.cpp")
    below = standin(folder, "libacl_rt_impl.so", sources / "ascendcl.cpp", link=["-DSTANDIN_IMPL", driver, runtime])
    return [standin(folder, "libascendcl.so", sources / "forwards.cpp", link=[below]), below, driver, runtime]


def opencl_behind(scratch, name):
    """Returns the options that link programs/NAME.c as a library before OpenCL. This library replaces some of OpenCL's functions."""
    library = f"{scratch}/lib{name}.so"
    compile(need("gcc"), "-shared", "-fPIC", PROGRAMS / f"{name}.c", "-o", library, "-ldl", "-pthread")
    return ["-Wl,--no-as-needed", library, "-lOpenCL"]


def build_programs(build, scratch, source, *options):
    """Returns {way: program}: the program built without the plugin, and the program built with the plugin of each LLVM version."""
    options = [f"-I{REPOSITORY}/runtime/include", *options, f"-Wl,-rpath,{scratch}", "-pthread"]
    programs = {"hooks": f"{scratch}/plain"}
    compile(need("gcc"), "-g", "-O1", source, "-o", programs["hooks"], *options)
    for llvm in "19", "22":
        programs[f"plugin {llvm}"] = f"{scratch}/instrumented-{llvm}"
        Msleaks(build, llvm).compile(source, programs[f"plugin {llvm}"], *options)
    return programs


def watched(msleaks, scratch, program, *options):
    """Checks that the program behaves under msleaks as without it. Returns the folder of the run, and its report."""
    plain = run([program, *options])
    check(plain.returncode == 0, f"the program fails: {plain.stdout} {plain.stderr}")
    folder = f"{scratch}/{Path(program).name}-{'-'.join(options) or 'run'}"
    done, report = msleaks.run(folder, [program, *options])
    expect_same(plain, done)
    report.expect_account()
    return folder, report


def expect_version_notes(msleaks, scratch, program, library, *newer, variable="STANDIN_VERSION"):
    """Checks that the report has one note for each of the versions `newer`, and otherwise no note about the driver."""
    for version, count in (None, 0), *((version, 1) for version in newer):
        environment = os.environ if version is None else {**os.environ, variable: str(version)}
        _, report = msleaks.run(f"{scratch}/version-{version}", [program], env=environment)
        equal(f"notes about version {version}", len([note for note in report.json["notes"] if f"{library} is of version" in note]), count)


def events_of(msleaks, folder, kind):
    return [json.loads(line) for line in msleaks.output("dump", folder, "--json", "--kind", kind).splitlines()]


GOLDENS = Path(__file__).resolve().parent / "goldens"
OF_DRIVERS = ("device", "managed", "pinned", "registered", "pool", "imported")
OF_PROGRAM = ("Step", "Mark", "RangeBegin", "RangeEnd", "OwnerPush", "OwnerPop")
PLACES = ("address", "destination", "source", "kernel", "stream", "block")
NUMBERS = ("size", "status", "direction", "value", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "number", "id", "offset")
TEXTS = ("label", "name")


def text_of(event, numbers):
    """Returns the event as one line of a golden file, which is the same on each machine and in each run. Addresses and other values
    that differ between runs become numbers, in the order of their first use."""
    shown = [event["event"], *([event["heap"], str(event["device"])] if event["event"] not in OF_PROGRAM else [])]
    has_stream = event["event"] in ("Copy", "Set", "Launch")  # in other events this field is the stream of the thread's ring buffer
    for field, value in event.items():
        if field in PLACES and (field != "stream" or has_stream):
            shown.append(f"{field}={'#' + str(numbers.setdefault(value, len(numbers) + 1)) if value else 0}")
        elif field in NUMBERS:
            shown.append(f"{field}={value}")
        elif field in TEXTS and value is not None:
            shown.append(f"{field}={value}" if len(value) < 100 else f"{field}={value[0]}... ({len(value)} characters)")
    return " ".join([*shown, *(flag for flag in event["flags"] if flag != "hook")])


def as_passes_see(lines, found):
    """If the plugin recorded no grid for a launch, removes the grid and the stream of this launch. Only hooks can read these from a
    launch's configuration."""
    without = [re.sub(r" ((grid|block)_[xyz]|stream)=\S+", "", line) for line in lines]
    is_unread = [" grid_x=0 grid_y=0 grid_z=0 block_x=0 " in line for line in found]
    return [bare if unread else line for line, bare, unread in zip(lines, without, is_unread)] if len(lines) == len(found) else lines


def expect_golden(msleaks, folder, name, way="hooks"):
    """Checks that the events of the driver and of the program, except Counter and Kernel, equal goldens/NAME.txt, in this order. `way` is
    "hooks", or the plugin with which the program was built."""
    events = [json.loads(line) for line in msleaks.output("dump", folder, "--json").splitlines()]
    numbers = {}
    found = [text_of(event, numbers) for event in events if event["event"] in OF_PROGRAM or (event["heap"] in OF_DRIVERS and event["event"] not in ("Counter", "Kernel"))]
    golden = GOLDENS / f"{name}.txt"
    wanted = golden.read_text().splitlines() if golden.exists() else []
    if way != "hooks":
        wanted, found = as_passes_see(wanted, found), as_passes_see(found, found)
    if found != wanted:
        text = f"{folder}/{name}.txt"
        Path(text).write_text("\n".join(found) + "\n")
        differs = "\n".join(difflib.unified_diff(wanted, found, str(golden), text, lineterm=""))
        check(False, f"other events, see {text}:\n{differs}")


def expect_allocations(msleaks, folder, expected):
    """Checks the blocks that a driver allocated. `expected` has heap, device and bytes of each block."""
    found = [(event["heap"], event["device"], event["size"]) for event in events_of(msleaks, folder, "alloc")
             if event["heap"] in ("device", "managed", "pinned") and "restored" not in event["flags"]]
    equal("allocations", sorted(found), sorted(expected))


def expect_counts(msleaks, folder, **counts):
    for kind, count in counts.items():
        equal(f"events of kind {kind}", len(events_of(msleaks, folder, kind)), count)


CONTEXT = 3 << 20  # bytes that a context takes on each device of the stand-ins (common/machine.h)


def expect_driver(report, device, beside=0):
    """Checks the report's ledger of device memory. Beyond the blocks, the driver must use the bytes of its context on this device,
    plus at most `beside` bytes."""
    found = [(line["device"], line["bytes"], line["at_peak_bytes"]) for line in report.json["ledger"] if line["source"] == "driver"]
    least, most = (device, CONTEXT, CONTEXT), (device, CONTEXT + beside, CONTEXT + beside)
    check(len(found) == 1 and least <= found[0] <= most, f"the driver's own memory: {found}, not {least} to {most}")


def device_leaks(report):
    return [(finding["heap"], finding["device"], finding["count"], finding["bytes"], finding["site"]["line"])
            for finding in report.json["findings"] if finding["kind"] == "leak" and finding["heap"] in ("device", "managed", "pinned")]
