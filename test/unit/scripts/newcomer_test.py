"""Does what a new contributor does: adds the files of CONTRIBUTING.md's recipes to the tree, builds and runs them, and removes
them again.

    newcomer_test.py REPOSITORY BUILD

The existing tree and build folder are under an overlay in memory, which stores all changes and vanishes at the end. So only
the new files are compiled. The overlay needs root and overlayfs. Without them, the test exits with 77.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
# Matches the file of a recipe, which is a block of code. The first line of the block names the file.
BLOCK = re.compile(r"^```(?:cpp|sh)\n((?://|#) ([\w/]+\.(?:cpp|sh)): .*?)^```$", re.M | re.S)
FILES = ["analysis/analyzers/large.cpp", "test/unit/report/large_test.cpp", "analysis/exporters/places.cpp",
         "test/unit/exporters/places_test.cpp", "tools/verbs/processes.cpp", "test/unit/verbs/processes_test.sh"]


def check(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def output(*command, statuses=(0,)):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check(done.returncode in statuses, f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def overlay(folder, layer, name):
    for kind in ("upper", "work"):
        (layer / f"{name}-{kind}").mkdir()
    options = f"lowerdir={folder},upperdir={layer}/{name}-upper,workdir={layer}/{name}-work"
    return subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, folder], stderr=subprocess.DEVNULL).returncode == 0


def cover(repository, build):
    """Mounts overlays over both folders, for this process and its children. The overlays store changes in memory."""
    if os.environ.get("MSLEAKS_NEWCOMER") != "inside":
        unshare = ["unshare", "-m", "--propagation", "private"]
        if os.geteuid() != 0 or subprocess.run([*unshare, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            print("skipped: layers over folders need root and a mount namespace of their own")
            sys.exit(SKIPPED)
        with tempfile.TemporaryDirectory(prefix="msleaks-newcomer-") as layer:
            environment = {**os.environ, "MSLEAKS_NEWCOMER": "inside", "MSLEAKS_LAYER": layer}
            sys.exit(subprocess.run([*unshare, sys.executable, "-B", *sys.argv], env=environment).returncode)
    layer = Path(os.environ["MSLEAKS_LAYER"])
    subprocess.run(["mount", "-t", "tmpfs", "none", layer], check=True)
    folders = [repository] if build.is_relative_to(repository) else [repository, build]
    if not all(overlay(folder, layer, f"layer{number}") for number, folder in enumerate(folders)):
        print("skipped: there is no overlayfs here")
        sys.exit(SKIPPED)
    os.chdir(repository)  # so that paths do not lead to the folder below the mount


class Build:
    def __init__(self, repository, build):
        self.folder = build
        self.msleaks = build / "bin/msleaks"
        self.run = repository / "test/e2e/kept/v1/run"

    def make(self):
        output("cmake", "--build", self.folder, "--target", "msleaks", "report_test", "exporters_test", "--parallel", os.cpu_count())

    def report(self):
        return output(self.msleaks, "report", self.run, "--json", statuses=(0, 1))

    def says(self):
        """Returns the outputs that must be the same before the recipes and after their removal."""
        return [output(self.msleaks, "--help"), output(self.msleaks, "export", "--list"), self.report()]


def check_recipes(build, repository):
    tables = {section["name"]: section for section in json.loads(build.report())["sections"]}
    check([row[1:] for row in tables.get("large", {"rows": []})["rows"]] == [[4000, 1]], f"the analyzer: {tables}")
    check("places     the places of the peak" in output(build.msleaks, "export", "--list"), "the format is not listed")
    places = output(build.msleaks, "export", build.run, "--format", "places")
    check(places == "/src/grow.c:7:16\n/src/pool.c:6:20\n", f"the exporter: {places}")
    check("\n  processes " in output(build.msleaks, "--help"), "the verb is not listed")
    processes = output(build.msleaks, "processes", build.run)
    check(processes == "15887\n", f"the verb: {processes}")
    for program, name in (("report_test", "*LargeBlocks*"), ("exporters_test", "Places.*")):
        said = output(build.folder / "bin" / program, f"--gtest_filter={name}")
        check("[  PASSED  ] 1 test." in said, f"{program} has no {name}: {said}")
    output("sh", repository / "test/unit/verbs/processes_test.sh", build.msleaks, build.run)


def main():
    repository, build_folder = (Path(argument).resolve() for argument in sys.argv[1:3])
    cover(repository, build_folder)
    recipes = {path: text for text, path in BLOCK.findall((repository / "CONTRIBUTING.md").read_text())}
    check(list(recipes) == FILES, f"the recipes are {list(recipes)}")
    build = Build(repository, build_folder)
    build.make()
    before = build.says()
    for path, text in recipes.items():
        check(not (repository / path).exists(), f"{path} is there already")
        (repository / path).write_text(text)
    build.make()
    check_recipes(build, repository)
    if shutil.which("clang-format-22"):
        sources = [repository / path for path in recipes if path.endswith(".cpp")]
        output("clang-format-22", "--dry-run", "--Werror", *sources)
    for path in recipes:
        (repository / path).unlink()
    build.make()
    for old, new in zip(before, build.says()):
        check(old == new, f"what is removed leaves a trace:\n{old}\n{new}")
    print(f"{len(recipes)} files added and removed")


if __name__ == "__main__":
    main()
