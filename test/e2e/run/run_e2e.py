"""Contains the common code of the tests of msleaks-run. It runs the tools, compiles small programs, and reads the summary of a trace."""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import SKIPPED, check  # noqa: E402

HERE = Path(__file__).resolve().parent


class Tools:
    """Runs the tools of the build folder. A test's arguments are BUILD SCRATCH [more]."""

    def __init__(self):
        if len(sys.argv) < 3:
            sys.exit(f"usage: {sys.argv[0]} BUILD SCRATCH")
        self.bin = Path(sys.argv[1]) / "bin"
        self.run_tool = self.bin / "msleaks-run"
        self.scratch = Path(sys.argv[2])
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        # msleaks-run refuses an output in a folder to which everybody may write.
        self.scratch.chmod(0o755)

    def compile(self, name, *options):
        """Compiles a program of programs/ without the plugin, so only the hooks record its blocks."""
        output = self.scratch / "".join([Path(name).stem, *options])
        compiler = shlex.split(os.environ.get("CC", "cc"))
        done = subprocess.run([*compiler, "-O1", "-g", "-pthread", *options, "-o", output, HERE / "programs" / name])
        check(done.returncode == 0, f"{name} does not compile")
        return output

    def folder(self, name="run"):
        folder = self.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def command(self, folder, program, *options):
        return [self.run_tool, *options, "-o", folder, "--", *program]

    def run(self, program, *options, name="run", **kwargs):
        """Runs msleaks-run to its end. Returns the finished process and the run's folder."""
        folder = self.folder(name)
        kwargs.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run(self.command(folder, program, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, **kwargs)
        return done, folder

    def verb(self, *words, **kwargs):
        """Runs `msleaks WORDS...`."""
        kwargs.setdefault("stdout", subprocess.PIPE)
        return subprocess.run([self.bin / "msleaks", *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **kwargs)

    def recover(self, folder, *options):
        return self.verb("recover", folder, *options)

    def copy_to(self, prefix):
        """Copies the files that msleaks-run needs to another folder."""
        shutil.rmtree(prefix, ignore_errors=True)
        for folder, files in (("bin", [self.run_tool]), ("lib", (self.bin.parent / "lib").glob("libmsleaks_*.so"))):
            (prefix / folder).mkdir(parents=True)
            for file in files:
                shutil.copy(file, prefix / folder)

    def summary(self, folder):
        done = subprocess.run([self.bin / "trace_summary", folder / "trace.mslt"], stdout=subprocess.PIPE, text=True)
        check(done.returncode == 0, f"{folder}: the trace cannot be read")
        return json.loads(done.stdout)


class Unavailable(Exception):
    """A topic raises this exception if a requirement is missing. The topic is skipped, and the other topics still run."""


def run_topics(*topics):
    """Calls the topics in turn. If a topic was skipped, the test exits as skipped after all other topics have run."""
    missing = []
    for topic in topics:
        name = topic.__name__.replace("_", " ")
        print(name, flush=True)
        try:
            topic()
        except Unavailable as reason:
            missing.append(f"{name} ({reason})")
    if missing:
        print(f"skipped: {'; '.join(missing)}; {len(topics) - len(missing)} of {len(topics)} passed")
        sys.exit(SKIPPED)


@contextmanager
def as_somebody(tools):
    """Yields words that run a command as an unprivileged user, and a folder of this user with a copy of the tools."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Unavailable("becoming another user needs root and setpriv")
    nobody = 65534
    place = Path(tempfile.mkdtemp(prefix="msleaks-somebody-", dir="/tmp"))
    try:
        tools.copy_to(place)
        place.chmod(0o755)
        os.chown(place, nobody, nobody)
        yield ["setpriv", f"--reuid={nobody}", f"--regid={nobody}", "--clear-groups"], place
    finally:
        shutil.rmtree(place)


def in_namespace(script, *arguments):
    """Runs a shell script in a mount namespace of its own, so its mounts are not visible outside."""
    unshare = ["unshare", "-m", "--propagation", "private"]
    if os.geteuid() != 0 or subprocess.run([*unshare, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        raise Unavailable("mounting small file systems needs root and a mount namespace of its own")
    return subprocess.run([*unshare, "sh", "-eu", "-c", script, "sh", *map(str, arguments)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)


def wait_until(condition, what, seconds=30):
    until = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < until, f"waited in vain: {what}")
        time.sleep(0.001)


def expect_status(done, status, *words):
    check(done.returncode == status, f"exit status {done.returncode}, not {status}: {done.stderr}")
    for word in words:
        check(word in done.stderr, f"no '{word}' in: {done.stderr}")


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


def expect_account(summary, dropped=None):
    """Checks that each produced event is stored or counted as dropped. `dropped` is the number of events that a thread may drop."""
    check(not summary["damage"], f"damage: {summary['damage'][:3]}")
    for stream in summary["streams"]:
        check(stream["produced"] == stream["stored"] + stream["dropped"], f"does not add up: {stream}")
        check(dropped is None or stream["dropped"] <= dropped, f"dropped events: {stream}")


def expect_quiet(folder):
    """Checks that no note of the run names inconsistent numbers or damage."""
    notes = manifest(folder)["notes"]
    check(not any("inconsistent" in note or "damaged" in note for note in notes), f"{folder}: {notes}")


def session_gone(folder):
    session = manifest(folder)["session_dir"]
    check(session and not os.path.exists(session), f"{session} was left behind")
