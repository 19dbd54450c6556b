"""Starts and stops a session of LTTng, the tracer with which msleaks' record() is compared."""
import shutil
import subprocess
import tempfile

from measure import Failed, output_of


class LttngSession:
    """A running LTTng session in which the event of peer_lttng.c is enabled. If it cannot be started, `reason` says why."""

    def __enter__(self):
        self.usable, self.created, self.reason = False, False, "not installed"
        if not shutil.which("lttng") or not shutil.which("lttng-sessiond"):
            return self
        self.home = tempfile.mkdtemp(prefix="msleaks-bench-lttng-")
        try:
            subprocess.run(["lttng-sessiond", "--daemonize"], capture_output=True)
            self.lttng("create", "msleaks-bench", "--output", self.home)
            self.created = True
            self.lttng("enable-channel", "-u", "events", "--subbuf-size=4M", "--num-subbuf=4")
            self.lttng("enable-event", "-u", "msleaks_bench:alloc", "-c", "events")
            self.lttng("start")
            self.usable = True
        except Failed as failure:
            self.reason = str(failure)
        return self

    def lttng(self, *words):
        return output_of(["lttng", *words])

    def __exit__(self, *_):
        if self.created:
            subprocess.run(["lttng", "destroy", "msleaks-bench"], capture_output=True, timeout=120)
        if hasattr(self, "home"):
            shutil.rmtree(self.home, ignore_errors=True)
