"""Tests the output folder of msleaks-run: which paths it refuses before the program starts, and which files exist afterwards."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from run_e2e import Tools, as_somebody, check, expect_status, in_namespace, run_topics

tools = Tools()
witness = tools.scratch / "witness"


def expect_refused(output, status, word, command=(), **kwargs):
    done = subprocess.run([*command, *tools.command(output, ["touch", witness])], stderr=subprocess.PIPE, text=True, **kwargs)
    expect_status(done, status, word)
    check(done.stderr.count("\n") == 1 and done.stderr.startswith("msleaks-run: "), f"not one line: {done.stderr}")
    check(not witness.exists(), f"{output}: the program ran")


def refuses_an_output_before_the_program_starts():
    full = tools.folder("full")
    full.mkdir()
    (full / "file").write_text("mine")
    file = tools.scratch / "file"
    file.write_text("")
    link = tools.scratch / "link"
    link.symlink_to(tools.scratch / "elsewhere")
    loop = tools.scratch / "loop"
    loop.symlink_to(loop)
    open_to_all = tools.folder("open")
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    for output, status, word in [
        (full, 2, "not empty"),
        (file, 2, "not a folder"),
        (file / "x", 2, "not a folder"),
        (link, 2, "symbolic link"),
        (loop, 2, "symbolic link"),
        (loop / "x", 2, "symbolic links"),
        (tools.scratch / "a\nb", 2, "control characters"),
        (tools.scratch / "=cmd", 2, "spreadsheets"),
        (tools.scratch / ("n" * 300), 2, "300 bytes"),
        (tools.scratch / "/".join(["n" * 100] * 50), 2, "at most"),
        (open_to_all, 2, "every user"),
        (open_to_all / "x", 2, "every user"),
        ("", 2, "empty"),
        ("/proc/no/such", 4, "No such file"),
    ]:
        expect_refused(output, status, word)
    check(os.listdir(full) == ["file"] and file.read_text() == "" and not (tools.scratch / "elsewhere").exists(),
          "somebody else's file was changed")


def refuses_a_folder_that_one_may_not_enter():
    """Runs msleaks-run as another user, who may not enter a folder of root."""
    with as_somebody(tools) as (somebody, place):
        closed = place / "closed"
        closed.mkdir(mode=0o700)
        os.chown(closed, 0, 0)
        done = subprocess.run([*somebody, place / "bin/msleaks-run", "-o", closed / "x" / "RUN", "touch", witness],
                              stderr=subprocess.PIPE, text=True)
        expect_status(done, 2, "Permission denied")
        check(done.stderr.count("\n") == 1 and not witness.exists(), f"not one line: {done.stderr}")


def leaves_the_folders_that_it_found():
    """If msleaks-run cannot start the program, it must leave no file of the recording and remove no earlier file."""
    broken = tools.scratch / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    mine = tools.folder("mine")
    mine.mkdir()
    expect_status(tools.run([broken], name="unused")[0], 127, "broken")
    done = subprocess.run(tools.command(mine, [broken]), stderr=subprocess.PIPE, text=True)
    expect_status(done, 127, "broken")
    check(mine.is_dir() and os.listdir(mine) == [], "the user's own folder was removed, or something is left in it")
    done = subprocess.run(tools.command(mine / "a" / "b" / "RUN", [broken]), stderr=subprocess.PIPE, text=True)
    expect_status(done, 127, "broken")
    check(mine.is_dir() and os.listdir(mine) == [], f"parents of the folder are left: {os.listdir(mine)}")
    done = subprocess.run(tools.command("a/RUN", [broken]), stderr=subprocess.PIPE, text=True, cwd=mine)
    expect_status(done, 127, "broken")
    check(os.listdir(mine) == [], "a relative parent is left")


def makes_the_folders_above():
    folder = tools.folder("above") / "a" / "RUN"
    expect_status(subprocess.run(tools.command(folder, ["true"], "--no-report"), stderr=subprocess.PIPE, text=True), 0)
    check((folder / "manifest.json").exists(), "no recording")


def does_not_cut_a_path_that_cannot_be_preloaded():
    """LD_PRELOAD cannot contain a path with a space. If the installation's path has a space, the session's folder gets a link to the
    libraries. If the path of this folder has a space, too, the program runs without msleaks."""
    prefix = tools.scratch / "a prefix"
    tools.copy_to(prefix)
    folder = Path(tempfile.mkdtemp(prefix="msleaks colon: ", dir=tools.scratch)) / "RUN"
    script = f"""
mount --bind /proc/sys /dev/shm # nothing can be made there, so the session's folder is in RUN
exec '{prefix}/bin/msleaks-run' --no-report -o '{folder}' -- sh -c 'echo "preload $LD_PRELOAD"'
"""
    done = in_namespace(script)
    expect_status(done, 0, "LD_PRELOAD cannot name", "nothing will be recorded")
    check(done.stdout == "preload \n", f"a path was cut: {done.stdout}")
    shutil.rmtree(folder.parent)


run_topics(refuses_an_output_before_the_program_starts, refuses_a_folder_that_one_may_not_enter, leaves_the_folders_that_it_found,
           makes_the_folders_above, does_not_cut_a_path_that_cannot_be_preloaded)
