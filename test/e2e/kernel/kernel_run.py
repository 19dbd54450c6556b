"""Contains the common code of the tests of kernel evidence. It runs programs under msleaks-run --kernel and reads the events."""
import json
import shlex
import shutil
import subprocess
import sys
from os import environ
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import check, skip  # noqa: E402

HERE = Path(__file__).resolve().parent


class KernelRuns:
    """A test's arguments are BUILD SCRATCH."""

    def __init__(self):
        self.bin = Path(sys.argv[1]) / "bin"
        self.scratch = Path(sys.argv[2])
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        self.scratch.chmod(0o755)

    def compile(self, name, *options, output=None):
        output = self.scratch / (output or Path(name).stem)
        compiler = shlex.split(environ.get("CC", "cc"))
        done = subprocess.run([*compiler, "-O1", "-g", "-pthread", "-o", output, HERE / "programs" / name, *options])
        check(done.returncode == 0, f"{name} does not compile")
        return output

    def collectors(self, *names, **kwargs):
        """Returns the exit status of `msleaks collectors`, and the collectors by name."""
        done = subprocess.run([self.bin / "msleaks", "collectors", "--json", *names], capture_output=True, text=True, **kwargs)
        check(done.returncode in (0, 1), f"msleaks collectors: exit status {done.returncode}: {done.stderr}")
        return done.returncode, {each["name"]: each for each in json.loads(done.stdout)["collectors"]}

    def need(self, *names):
        """Skips the test if the kernel refuses one of these collectors."""
        status, collectors = self.collectors(*names)
        if status != 0:
            skip("; ".join(f"{each['name']}: {each['state']}, {each['reason']}, errno {each['errno']}" for each in collectors.values()))

    def command(self, name, kernel, command, *options):
        return [self.bin / "msleaks-run", "--no-report", "--kernel", kernel, *options, "-o", self.scratch / name, "--", *command]

    def run(self, name, kernel, command, *options, status=0, **kwargs):
        """Runs a program. Returns what it printed, and the folder of the run."""
        folder = self.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        done = subprocess.run(self.command(name, kernel, command, *options), stdin=subprocess.DEVNULL, capture_output=True, text=True, **kwargs)
        check(done.returncode == status, f"{name}: exit status {done.returncode}, not {status}: {done.stderr}")
        return done.stdout, folder

    def events(self, folder, kind):
        done = subprocess.run([self.bin / "msleaks", "dump", folder, "--json", "--kind", kind], capture_output=True, text=True)
        check(done.returncode == 0 and not done.stderr, f"dump: exit status {done.returncode}: {done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def report(self, folder):
        done = subprocess.run([self.bin / "msleaks", "report", folder, "--json"], capture_output=True, text=True)
        check(done.returncode in (0, 1), f"report: exit status {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    def account(self, folder, name):
        """Returns the account of a collector. Its sum must hold."""
        found = [each for each in self.report(folder)["kernel"]["collectors"] if each["name"] == name]
        check(len(found) == 1, f"the report has {len(found)} collectors {name}")
        account = found[0]
        parts = sum(account[part] for part in ("delivered", "ring_full", "map_full", "unreturned"))
        check(account["entered"] == parts, f"{name}: the account's sum is {parts}: {account}")
        return account
