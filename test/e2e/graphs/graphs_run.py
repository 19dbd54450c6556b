"""Contains the common code of the tests of graphs. It builds programs with counted edges, and returns the graphs of a run by name."""
import json
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import REPOSITORY, Msleaks, arguments, build_workload, check, equal, expect_same, line_of, need, run, skip  # noqa: E402, F401
import schema  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"


def counting(msleaks, source, output, *options, cfg="cfg", flags=("-O2",)):
    """Builds a program with the plugin, which adds counters for the edges of the control flow."""
    source = Path(source)
    command = [msleaks.compiler("c" if source.suffix == ".c" else "c++"), "-g", *flags, f"-fpass-plugin={msleaks.plugin}", source, "-o", output, *options]
    done = run(command, env=dict(os.environ, MSLEAKS_PASS=cfg))
    check(done.returncode == 0, done.stderr)
    return output


def recorded(msleaks, folder, command, **kwargs):
    """Runs a program under msleaks-run, in a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    return run([msleaks.bin / "msleaks-run", "--no-report", "-o", folder, "--", *command], **kwargs)


def counted(msleaks, folder, command, expected=None, **kwargs):
    """Runs a program, checks that it behaves as without msleaks, and returns its graphs."""
    plain = run(command, **kwargs)
    if expected is not None:
        equal("the program's status", plain.returncode, expected)
    expect_same(plain, recorded(msleaks, folder, command, **kwargs))
    return graphs_of(msleaks, folder)


def graphs_of(msleaks, folder):
    graphs = json.loads(msleaks.output("cfg", folder, "--json"))
    schema.expect(graphs, folder)
    return {graph["symbol"]: graph for graph in graphs}


def expect_flow(graph, what):
    """Checks that a basic block's count equals the sum of the counts of its incoming edges. The block's count must also equal the
    sum for its outgoing edges, unless the block calls a function that does not return."""
    for block in graph["blocks"]:
        edges_in = [edge["count"] for edge in graph["edges"] if edge["to"] == block["id"]]
        if block["id"] != 1 and None not in edges_in:
            equal(f"{what}: {graph['symbol']}: into block {block['id']}", sum(edges_in), block["count"])
