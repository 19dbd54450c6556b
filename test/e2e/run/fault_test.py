"""Tests recordings on full disks, on read-only disks, and without shared memory. msleaks-run must refuse to start the program, or the
program must not be affected.

Most topics need root, to mount file systems. A topic that cannot run is skipped with a message.
"""
import os
import re

from run_e2e import Tools, check, expect_account, expect_status, in_namespace, manifest, run_topics

tools = Tools()
churn = tools.compile("churn.c")


def survives_a_full_disk():
    """The trace's file system becomes full during the run. When it has space again, `msleaks recover` stores the remaining events."""
    place = tools.folder("small")
    place.mkdir()
    script = f"""
mount -t tmpfs -o size=128k,mode=0755 none {place}
set +e
{tools.run_tool} --no-report --error-exitcode 9 -o {place}/run -- {churn} {tools.scratch}/counts 2 1000000
echo "status $?"
mount -o remount,size=64m {place}
{tools.bin}/msleaks recover {place}/run
echo "recovered $?"
cp -r {place}/run {tools.scratch}/rescued
"""
    rescued = tools.folder("rescued")
    done = in_namespace(script)
    check("done\nstatus 9\n" in done.stdout, f"a recording that failed passes as clean: {done.stdout} {done.stderr}")
    check("No space left" in done.stderr and "recording stopped early" in done.stderr, f"what went wrong is not said: {done.stderr}")
    check(done.stderr.count("\n") == 1, f"more than one line: {done.stderr}")
    check("recovered 0" in done.stdout, f"it cannot be recovered: {done.stdout}")
    summary = tools.summary(rescued)
    expect_account(summary)
    check(any(stream["stored"] > 0 for stream in summary["streams"]), "nothing was stored")
    check(all(stream["in_sequence"] for stream in summary["streams"] if re.fullmatch(r"churn\d+", stream["thread"])), "holes")
    check(manifest(rescued)["state"] == "recovered", "the state")
    check(not os.path.exists(manifest(rescued)["session_dir"]), "shared memory is left")


def says_when_the_output_is_read_only():
    place = tools.folder("readonly")
    place.mkdir()
    done = in_namespace(f"""
mount -t tmpfs -o ro,mode=0755 none {place}
set +e
{tools.run_tool} -o {place}/run -- touch {tools.scratch}/witness
echo "status $?"
""")
    check("status 2\n" in done.stdout, f"{done.stdout}")
    check("ead-only" in done.stderr and done.stderr.count("\n") == 1, f"{done.stderr}")
    check(not (tools.scratch / "witness").exists(), "the program ran")


def leaves_nothing_when_the_disk_is_full_at_once():
    place = tools.folder("full")
    place.mkdir()
    done = in_namespace(f"""
mount -t tmpfs -o size=8k,mode=0755 none {place}
mount -t tmpfs none /dev/shm
set +e
head -c 8192 /dev/zero > {place}/filler
{tools.run_tool} -o {place}/run -- touch {tools.scratch}/witness
echo "status $?"
ls {place} /dev/shm
""")
    check("status 4\n" in done.stdout, f"{done.stdout} {done.stderr}")
    check("No space left" in done.stderr and done.stderr.count("\n") == 1, f"{done.stderr}")
    check(not (tools.scratch / "witness").exists(), "the program ran")
    check("run" not in done.stdout.split() and "msleaks-" not in done.stdout, f"something is left: {done.stdout}")


def works_without_enough_shared_memory():
    # The second mount puts /proc/sys at /dev/shm. Nobody can create a folder there.
    for name, mount in (("small", "mount -t tmpfs -o size=1m none /dev/shm"), ("unusable", "mount --bind /proc/sys /dev/shm")):
        folder = tools.folder(name)
        done = in_namespace(f"""
{mount}
set +e
{tools.run_tool} --no-report -o {folder} -- {churn} {tools.scratch}/counts 2 20000
echo "status $?"
""")
        check("done\nstatus 0\n" in done.stdout, f"{name}: {done.stdout} {done.stderr}")
        check(done.stderr.count("\n") == 1 and "/dev/shm" in done.stderr, f"{name}: said once, and why: {done.stderr}")
        summary = tools.summary(folder)
        expect_account(summary, 0)
        check(sum(stream["stored"] for stream in summary["streams"]) >= 80_000, f"{name}: events are missing")
        check(sorted(os.listdir(folder)) == ["manifest.json", "trace.mslt"], f"{name}: {os.listdir(folder)}")


def counts_what_a_full_shared_memory_loses():
    """Fills the shared memory's file system during the run. msleaks must count the events that it loses."""
    folder = tools.folder()
    # A process outside of the session fills the file system. (If a process of the session did this, its memory would become free when
    # the process ends.)
    waits, filled = tools.scratch / "waits", tools.scratch / "filled"
    done = in_namespace(f"""
mount -t tmpfs -o size=60m none /dev/shm
rm -f {waits} {filled} && mkfifo {waits} {filled}
set +e
{tools.run_tool} --no-report -o {folder} --ring-kib 1024 -- sh -c 'echo > {waits}; read answer < {filled}
  "$@"' sh {churn} {tools.scratch}/counts 4 20000 &
read answer < {waits}
head -c 100m /dev/zero > /dev/shm/filler 2>/dev/null
echo > {filled}
wait $!
echo "status $?"
""")
    check("done\nstatus 0\n" in done.stdout, f"{done.stdout} {done.stderr}")
    summary = tools.summary(folder)
    expect_account(summary)
    # The program churn starts when the file system is full. Either a thread of churn got no ring buffer, or the whole process got no
    # shared memory.
    dropped = sum(stream["dropped"] for stream in summary["streams"])
    unseen = [process for process in manifest(folder)["processes"] if process["process"] == 0]
    check(dropped + summary["dropped_no_ring"] > 0 or unseen, f"nothing was lost: {summary}")
    check(not unseen or any("no room" in note for note in manifest(folder)["notes"]), f"{manifest(folder)['notes']}")
    report = tools.verb("report", folder, "--all")
    check(", complete" not in report.stdout, f"the report says that it is complete:\n{report.stdout}")


def uses_the_folder_where_shared_memory_is_too_small_for_the_rings():
    """The session requests larger ring buffers than /dev/shm has room for, so msleaks-run must use the run's folder. Needs no mount."""
    room = os.statvfs("/dev/shm")
    if room.f_bavail * room.f_frsize > 4 << 30:
        print("  not tried: /dev/shm has more than four times the largest ring; a small one is mounted below")
        return
    done, folder = tools.run([churn, tools.scratch / "counts", "2", "20000"], "--no-report", "--ring-max-kib", "1048576")
    expect_status(done, 0, "/dev/shm")
    expect_account(tools.summary(folder), 0)
    check(sorted(os.listdir(folder)) == ["manifest.json", "trace.mslt"], f"{os.listdir(folder)}")


run_topics(uses_the_folder_where_shared_memory_is_too_small_for_the_rings, survives_a_full_disk, says_when_the_output_is_read_only,
           leaves_nothing_when_the_disk_is_full_at_once, works_without_enough_shared_memory, counts_what_a_full_shared_memory_loses)
