#!/usr/bin/env python3
"""Pauses and resumes a session again and again, while four threads load, use and unload libraries. msleaks must not record a call
twice, and must not report a freed block as a leak.

    stopped_test.py BUILD SCRATCH
"""
import json
import os
import shutil
import socket
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, run  # noqa: E402

SOURCES = Path(__file__).resolve().parents[1] / "nasty" / "programs"
ROUNDS = 800


def session_folder(folder):
    """Returns the session's folder, or None as long as manifest.json does not have it."""
    try:
        return json.loads((Path(folder) / "manifest.json").read_text()).get("session_dir")
    except (OSError, ValueError):
        return None


class Toggler(threading.Thread):
    """Pauses and resumes the session until `ended` is set."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.changes, self.ended = folder, 0, False

    def run(self):
        while not self.ended:
            session = session_folder(self.folder)
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
                    client.connect(os.path.join(session, "ctl"))
                    client.send(b"start" if self.changes % 2 else b"stop")
                    self.changes += client.recv(65536).startswith(b"0")
            except (OSError, TypeError):
                time.sleep(0.001)


def main():
    build, scratch = arguments("build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    msleaks.compile(SOURCES / "loaded.c", f"{scratch}/one.so", "-shared", "-fPIC")
    msleaks.compile(SOURCES / "loaded.c", f"{scratch}/two.so", "-shared", "-fPIC")
    msleaks.compile(SOURCES / "loader.c", f"{scratch}/loader", "-pthread", "-ldl")
    command = [f"{scratch}/loader", str(ROUNDS), "t", f"{scratch}/one.so", f"{scratch}/two.so"]
    plain = run(command)
    toggler = Toggler(f"{scratch}/run")
    shutil.rmtree(f"{scratch}/run", ignore_errors=True)
    toggler.start()
    done, report = msleaks.run(f"{scratch}/run", command, ["--no-report"])
    toggler.ended = True
    check((done.returncode, done.stdout) == (plain.returncode, plain.stdout), f"{done.returncode} {done.stdout} {done.stderr}")
    check(toggler.changes > 20, f"the session was changed {toggler.changes} times only")
    report.expect_account()
    leaked = [row for row in report.sites("leaks") if (row["site"]["file"] or "").endswith(("loaded.c", "loader.c"))]
    check(sum(row["bytes"] for row in leaked) in (0, 60), f"false leaks: {leaked}")
    blocks = report.json["blocks"]
    check(blocks["unmatched_frees"] == 0 and blocks["implicit_frees"] == 0 and blocks["late_frees"] == 0, f"{blocks}")
    print(f"{toggler.changes} changes, {report.json['events']['produced']} events, {blocks}")


if __name__ == "__main__":
    main()
