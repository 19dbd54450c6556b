"""Controls a headless Chromium by the DevTools protocol through a pipe, without a port or a library. The browser reaches
only this machine."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from msleaks_e2e import check, skip

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PATIENCE_S = 60


def find():
    """Returns the browser's path. Skips the test if there is no browser."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    return skip(f"none of {', '.join(NAMES)} is on this machine")


class Chromium:
    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="msleaks-chromium-", ignore_cleanup_errors=True)
        # The browser reads commands from descriptor 3 and writes answers to descriptor 4.
        commands, self.to = os.pipe()
        self.answers, answers = os.pipe()
        command = [find(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars=false", "--remote-debugging-pipe",
                   "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={self.profile.name}", "about:blank"]
        moved = f'exec 3<&{commands} 4>&{answers}; exec "$@"'
        self.process = subprocess.Popen(["bash", "-c", moved, "bash", *command], pass_fds=(commands, answers),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.watchdog = threading.Timer(10 * PATIENCE_S, self.process.kill)
        self.watchdog.start()
        self.reader = os.fdopen(self.answers, "rb")
        self.buffer = b""
        self.number = 0
        self.session = None
        self.events = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.watchdog.cancel()
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        self.reader.close()
        self.profile.cleanup()

    def message(self):
        while b"\0" not in self.buffer:
            read = self.reader.read1(1 << 16)
            check(read, "chromium ended, or did not answer in time")
            self.buffer += read
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                check("error" not in answer, f"{method}: {answer.get('error')}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width=1600, height=1000, dark=False, fragment=""):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.load("about:blank")  # if only the fragment of the address changed, the browser would not load the page again
        self.load(Path(path).resolve().as_uri() + fragment)

    def load(self, url):
        self.events.clear()
        self.ask("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def evaluate(self, expression):
        """Returns the value of an expression in the page. If the value is a promise, waits for its result."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        check("exceptionDetails" not in answer, f"{expression}: {answer.get('exceptionDetails')}")
        return answer["result"].get("value")

    def wait(self, expression):
        """Waits until the expression is true in the page, and returns its value. A page changes some time after an event."""
        return self.evaluate(f"new Promise(done => {{ const look = () => {{ const value = {expression};"
                             "value ? done(value) : setTimeout(look, 10); }; look(); })")

    def key(self, key):
        """Sends the browser the events of a pressed and a released key."""
        code = {"ArrowDown": 40, "ArrowUp": 38, "Enter": 13, "Home": 36, "End": 35}.get(key, 0)
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else None)
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **({"text": text} if text else {}))
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def click(self, selector):
        """Clicks the centre of the element that the selector finds."""
        x, y = self.evaluate(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'nearest'}});"
                             "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def errors(self):
        """Returns the errors that the page threw or logged."""
        found = [event["params"]["exceptionDetails"].get("exception", {}).get("description") for event in self.events
                 if event.get("method") == "Runtime.exceptionThrown"]
        found += [event["params"]["entry"]["text"] for event in self.events
                  if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error"]
        return found

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]

    def screenshot(self, path):
        Path(path).write_bytes(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))
