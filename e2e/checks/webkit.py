#!/usr/bin/env python3
"""The page in WebKit, Safari's engine: a link, every panel, figures against profile-query.

    cargo build --release
    target/release/ipu-stack compile gemm-projections -o block.ipuexe
    target/release/ipu-stack run block.ipuexe -o block.ipuprofile
    xvfb-run -a python3 e2e/checks/webkit.py block.ipuprofile block.ipuexe

Debian has the driver and the browser as `webkit2gtk-driver`, the screen that it wants as `xvfb`. Status 0: every line
is true. The browser tests say the same of Chromium, and more.
"""

import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("IPU_STACK", ROOT / "target" / "release" / "ipu-stack"))
BROWSERS = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser"
PORT = 4599
DRIVER = f"http://127.0.0.1:{PORT}"
PANELS = ["in-view", "chip", "phases", "exchange", "compare", "plots", "memory"]
WAIT = 30

# A part of the page with this test id.
PART = "document.querySelector('[data-testid={}]')"


def command(method, path, body=None):
    """One command of the WebDriver protocol."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(DRIVER + path, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["value"]


class Tab:
    """A browser with one page."""

    def __init__(self, browser):
        options = {"webkitgtk:browserOptions": {"binary": browser, "args": ["--automation"]}}
        asked = {"capabilities": {"alwaysMatch": options}}
        for _ in range(50):
            try:
                self.session = "/session/" + command("POST", "/session", asked)["sessionId"]
                return
            except urllib.error.URLError:
                time.sleep(0.1)  # The driver is about to listen.
        sys.exit("not ok  the driver does not answer")

    def open(self, url):
        command("POST", f"{self.session}/url", {"url": url})

    def value(self, script):
        body = {"script": f"return {script}", "args": []}
        return command("POST", f"{self.session}/execute/sync", body)

    def until(self, condition):
        end = time.monotonic() + WAIT
        while not self.value(condition):
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain: {condition}")
            time.sleep(0.02)

    def is_in(self, part, state):
        self.until(f"{PART.format(part)}?.dataset.state === '{state}'")

    def settled(self):
        self.until("[...document.querySelectorAll('[data-panel]')].every((it) => it.dataset.state !== 'pending')")


def links(server, count):
    """The addresses that the server prints: its own, then those of its files."""
    found = []
    for line in server.stdout:
        found += re.findall(r"http://[\w.:]+/\S*", line)
        if len(found) >= count:
            return found
    sys.exit("not ok  the server ended")


def check(tab, profile, home, of_profile, of_package):
    tab.open(of_profile)
    tab.is_in("timeline", "drawn")
    tab.is_in("kernel-table", "ready")
    print("ok  a link opens its profile")
    shown = tab.value(
        "[...document.querySelectorAll('[data-testid=kernel-row]')].map((row) => [row.dataset.name, "
        "Number(row.querySelector('[data-column=workCycles]').dataset.raw)])"
    )
    words = [PROGRAM, "profile-query", profile, "--kind", "compute", "--limit", "0", "--json"]
    answer = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    expected = [[it["name"], it["workCycles"]] for it in answer["groups"]]
    assert shown == expected, f"the table shows {shown}, not {expected}"
    print(f"ok  the table of kernels is that of profile-query: {len(shown)} rows")
    for panel in PANELS:
        tab.value(PART.format(f"show-{panel}") + ".click()")
        tab.settled()
        alarm = tab.value("document.querySelector('[role=alert]')?.innerText")
        assert not alarm, f"{panel}: {alarm}"
        print(f"ok  {panel}")
    package = urllib.parse.quote("/" + of_package.removeprefix(home), safe="")
    tab.open("about:blank")
    tab.open(f"{of_profile}#v=1&view=memory&package={package}")
    tab.until(PART.format("tile-map") + "?.dataset.across === 'cycles'")
    print("ok  a link brings a package, and its memory lies below the cycles")


def main():
    profile, package = sys.argv[1:]
    browser = os.environ.get("WEBKIT") or next(iter(sorted(glob.glob(BROWSERS), reverse=True)), None)
    if browser is None:
        sys.exit(f"no WebKit at {BROWSERS}: install webkit2gtk-driver, or name it in WEBKIT")
    words = [PROGRAM, "serve", "--port", "0", profile, package]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    driver = subprocess.Popen(["WebKitWebDriver", f"--port={PORT}"])
    tab = None
    try:
        found = links(server, 3)
        tab = Tab(browser)
        check(tab, profile, *found[:3])
    except AssertionError as failure:
        sys.exit(f"not ok  {failure}")
    finally:
        if tab is not None:
            command("DELETE", tab.session)
        driver.kill()
        server.kill()


if __name__ == "__main__":
    main()
