"""Loads and unloads two libraries at the same address. The report must name the right library and function for each block."""
import json
import subprocess

from run_e2e import HERE, Tools, Unavailable, check, expect_account, run_topics

tools = Tools()


def library(name):
    output = tools.scratch / f"lib{name}.so"
    done = subprocess.run(["cc", "-O1", "-g", "-shared", "-fPIC", f"-DNAME={name}", "-o", output, HERE / "programs/in_library.c"])
    check(done.returncode == 0, f"{name} does not compile")
    return output


def names_both_functions_of_one_address(times=1):
    program = tools.compile("one_place.c")
    words = [word for name in ("first", "other") for word in (library(name), name)]
    done, folder = tools.run([program, *words, str(times)], "--no-report")
    check(done.returncode == 0, f"{done}")
    if done.stdout != "1\n":
        raise Unavailable("the loader puts the second library somewhere else")
    expect_account(tools.summary(folder), 0)
    result = json.loads(tools.verb("report", folder, "--json").stdout)
    rows = {row["site"]["function"]: row for row in result["leaks"]["by_site"] if (row["site"]["library"] or "").startswith(str(tools.scratch))}
    seen = {name: (row["bytes"], row["count"], row["site"]["library"]) for name, row in rows.items()}
    wanted = {name: (size * times, times, f"{tools.scratch}/lib{name}.so") for name, size in (("first", 1000), ("other", 10))}
    check(seen == wanted, f"{seen}, not {wanted}")


def names_them_a_thousand_times():
    names_both_functions_of_one_address(1000)


run_topics(names_both_functions_of_one_address, names_them_a_thousand_times)
