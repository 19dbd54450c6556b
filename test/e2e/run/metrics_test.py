"""Tests `msleaks top --metrics`: numbers of a running session for dashboards. Python's client of Prometheus reads them, and if
Prometheus is installed, it scrapes them."""
import json
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request

from run_e2e import Tools, check, expect_status, run_topics, wait_until

sys.path.append("/usr/lib/python3/dist-packages") # Debian's python3-prometheus-client
try:
    from prometheus_client.openmetrics import parser
except ImportError:
    print("skipped: no prometheus_client (Debian's python3-prometheus-client)")
    sys.exit(77)

tools = Tools()
steps = tools.compile("steps.c")


class Session:
    """Runs programs/steps.c under msleaks-run, and `msleaks top --metrics` beside it."""

    def __init__(self, name, target, *options):
        self.folder = tools.folder(name)
        self.program = subprocess.Popen(tools.command(self.folder, [steps], "--no-report"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.do("a 1")
        self.top = subprocess.Popen([tools.bin / "msleaks", "top", self.folder, "--metrics", target, "--interval", "0.1", *options],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def do(self, *lines):
        for line in lines:
            self.program.stdin.write(line + "\n")
            self.program.stdin.flush()
            check(self.program.stdout.readline() == "ok\n", f"the program does not go on after {line}")

    def end(self):
        self.program.stdin.write("q 0\n")
        self.program.stdin.close()
        check(self.program.wait(60) == 7, f"msleaks-run: {self.program.returncode} {self.program.stderr.read()}")
        check(self.top.wait(timeout=60) == 0, f"top: {self.top.stderr.read()}")


def samples(text):
    """Returns {(name, labels): value}. The parser refuses a text that is not OpenMetrics."""
    found = {}
    for family in parser.text_string_to_metric_families(text):
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            check(key not in found, f"{key} twice")
            found[key] = sample.value
    return found


def own_bytes(text):
    return sum(value for (name, labels), value in samples(text).items()
               if name == "msleaks_place_live_bytes" and dict(labels)["place"].rpartition("/")[2].startswith("steps.c:"))


def are_in_a_file():
    file = tools.scratch / "msleaks.prom"
    session = Session("file", str(file))
    session.do("a 4321", "a 99", "f 99")
    wait_until(lambda: file.exists() and own_bytes(file.read_text()) == 4322, "4,322 bytes in the file")
    check(samples(file.read_text())["msleaks_running", frozenset()] == 1, "the session does not run")
    session.end()
    last = samples(file.read_text())
    frame = json.loads(tools.verb("top", session.folder, "--once", "--json").stdout)
    check(last["msleaks_running", frozenset()] == 0, "the session still runs")
    check(last["msleaks_events_total", frozenset()] == frame["events"], f"{last} is not of {frame['events']} events")
    check(last["msleaks_peak_bytes", frozenset()] == frame["peak"]["bytes"], f"{last} has another peak than {frame['peak']}")
    places = sum(value for (name, _), value in last.items() if name == "msleaks_place_live_bytes")
    check(places == frame["alive"]["bytes"], f"{places} bytes of places, not {frame['alive']}")
    check([path.name for path in tools.scratch.glob("msleaks.prom*")] == ["msleaks.prom"], "a temporary file is left")


def get(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def are_served():
    session = Session("served", "127.0.0.1:0", "--top", "1")
    url = session.top.stdout.readline().strip()
    session.do("a 5000")
    wait_until(lambda: own_bytes(get(url)[1]) == 5001, "5,001 bytes at the address")
    kind, text = get(url)
    check(kind.startswith("application/openmetrics-text"), kind)
    places = [labels for name, labels in samples(text) if name == "msleaks_place_live_bytes"]
    check(len(places) <= 2, f"more than one place, and the others: {places}")
    try:
        get(url.replace("/metrics", "/"))
        check(False, "another path is answered")
    except urllib.error.HTTPError as error:
        check(error.code == 404, f"status {error.code}")
    session.end()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def are_scraped_by_prometheus():
    if shutil.which("prometheus") is None:
        print("not run: Prometheus (Debian's package prometheus) is not installed")
        return
    session = Session("scraped", "127.0.0.1:0")
    target, port, config = session.top.stdout.readline().strip().split("/")[2], free_port(), tools.scratch / "prometheus.yml"
    config.write_text(f"scrape_configs:\n  - job_name: msleaks\n    scrape_interval: 500ms\n    scrape_timeout: 500ms\n"
                      f"    static_configs:\n      - targets: ['{target}']\n")
    session.do("a 7000")
    server = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={tools.scratch}/tsdb",
                               f"--web.listen-address=127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        query = f"http://127.0.0.1:{port}/api/v1/query?query=sum(msleaks_place_live_bytes)"

        def scraped():
            try:
                found = json.loads(get(query)[1])["data"]["result"]
            except OSError:
                return None
            return float(found[0]["value"][1]) if found else None
        wait_until(lambda: (scraped() or 0) >= 7001, "a scrape of 7,001 bytes")
    finally:
        server.kill()
        server.wait()
    session.end()


def wrong_targets_are_refused():
    folder = tools.folder("none")
    expect_status(tools.verb("top", folder, "--metrics", "127.0.0.1:http"), 2, "is no port")
    expect_status(tools.verb("top", folder, "--metrics", ":0", "--web"), 2, "refuses --web and --once")


run_topics(are_in_a_file, are_served, are_scraped_by_prometheus, wrong_targets_are_refused)
