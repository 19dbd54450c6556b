"""What the tests of msleaks-run share: the tools' places, small programs compiled once, and the summary of a trace."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import check, skip  # noqa: E402, F401

HERE = Path(__file__).resolve().parent


class Tools:
    """Called as: test.py BUILD SCRATCH [more]."""

    def __init__(self):
        if len(sys.argv) < 3:
            sys.exit(f"usage: {sys.argv[0]} BUILD SCRATCH")
        self.bin = Path(sys.argv[1]) / "bin"
        self.run_tool = self.bin / "msleaks-run"
        self.scratch = Path(sys.argv[2])
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        # Refused as an output's parent when everybody may write there.
        self.scratch.chmod(0o755)

    def compile(self, name):
        """A program of programs/, not instrumented: its heap is seen by the hooks."""
        output = self.scratch / Path(name).stem
        done = subprocess.run(["cc", "-O1", "-g", "-pthread", "-o", output, HERE / "programs" / name])
        check(done.returncode == 0, f"{name} does not compile")
        return output

    def folder(self, name="run"):
        folder = self.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def command(self, folder, program, *options):
        return [self.run_tool, *options, "-o", folder, "--", *program]

    def run(self, program, *options, name="run", **kwargs):
        """Runs to the end. Returns the finished process and its folder."""
        folder = self.folder(name)
        kwargs.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run(self.command(folder, program, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, **kwargs)
        return done, folder

    def recover(self, folder):
        return subprocess.run([self.bin / "msleaks", "recover", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def summary(self, folder):
        done = subprocess.run([self.bin / "trace_summary", folder / "trace.mslt"], stdout=subprocess.PIPE, text=True)
        check(done.returncode == 0, f"{folder}: the trace cannot be read")
        return json.loads(done.stdout)


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


def expect_account(summary, dropped=None):
    """Nothing is lost silently; `dropped` is how many may be, per thread."""
    check(not summary["damage"], f"damage: {summary['damage'][:3]}")
    for stream in summary["streams"]:
        check(stream["produced"] == stream["stored"] + stream["dropped"], f"does not add up: {stream}")
        check(dropped is None or stream["dropped"] <= dropped, f"dropped events: {stream}")


def expect_quiet(folder):
    """No account was found to be inconsistent."""
    notes = manifest(folder)["notes"]
    check(not any("inconsistent" in note or "damaged" in note for note in notes), f"{folder}: {notes}")


def session_gone(folder):
    session = manifest(folder)["session_dir"]
    check(session and not os.path.exists(session), f"{session} was left behind")
