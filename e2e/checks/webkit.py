#!/usr/bin/env python3
"""The page in WebKit, Safari's engine: links, every panel, figures against profile-query.

    cargo build --release
    target/release/ipu-stack compile gemm-projections -o block.ipuexe
    target/release/ipu-stack run block.ipuexe -o block.ipuprofile
    xvfb-run -a python3 e2e/checks/webkit.py block.ipuprofile block.ipuexe

Debian has the driver and the browser as `webkit2gtk-driver`, the screen that it wants as `xvfb`. Status 0: every line
is true. The browser tests say the same of Chromium, and more.
"""

import contextlib
import glob
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("IPU_STACK", ROOT / "target" / "release" / "ipu-stack"))
BROWSERS = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser"
PANELS = ["in-view", "chip", "phases", "exchange", "compare", "plots", "memory"]
WAIT = 30
# What says that a panel shows more than a hint.
SHOWS = {
    "compare": "document.querySelectorAll('[data-testid=compare-table] tbody tr').length > 0",
    "memory": "document.querySelector('[data-testid=tile-map]')?.dataset.across === 'cycles'",
}

# A part of the page with this test id.
PART = "document.querySelector('[data-testid={}]')"


class NotOk(Exception):
    """The page, or what shows it, is not as it should be."""


class Tab:
    """A browser with one page, by the WebDriver protocol."""

    def __init__(self, port, browser):
        self.driver = f"http://127.0.0.1:{port}"
        options = {"webkitgtk:browserOptions": {"binary": browser, "args": ["--automation"]}}
        asked = {"capabilities": {"alwaysMatch": options}}
        end = time.monotonic() + WAIT
        while True:
            try:
                self.session = "/session/" + self.command("POST", "/session", asked)["sessionId"]
                return
            except urllib.error.URLError as error:  # The driver is about to listen.
                if time.monotonic() > end:
                    raise NotOk(f"the driver does not answer: {error}") from error
                time.sleep(0.1)

    def command(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.driver + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise NotOk(f"{method} {path}: {error.read().decode(errors='replace')}") from error

    def close(self):
        self.command("DELETE", self.session)

    def open(self, url):
        self.command("POST", f"{self.session}/url", {"url": url})

    def value(self, script):
        body = {"script": f"return {script}", "args": []}
        return self.command("POST", f"{self.session}/execute/sync", body)

    def until(self, condition):
        end = time.monotonic() + WAIT
        while not self.value(condition):
            if time.monotonic() > end:
                raise NotOk(f"waited in vain: {condition}")
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
    raise NotOk("the server ended")


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def insist(holds, otherwise):
    if not holds:
        raise NotOk(otherwise)


def check(tab, profile, home, of_profile, of_package):
    path = {of: urllib.parse.quote("/" + of.removeprefix(home), safe="") for of in (of_profile, of_package)}
    # A link that compares the profile with itself, and brings its package.
    tab.open(f"{of_profile}#v=1&compare={path[of_profile]}&package={path[of_package]}")
    tab.is_in("timeline", "drawn")
    tab.is_in("kernel-table", "ready")
    print("ok  a link opens its profile")
    shown = tab.value(
        "[...document.querySelectorAll('[data-testid=kernel-row]')].map((row) => [row.dataset.name, "
        "Number(row.querySelector('[data-column=workCycles]').dataset.raw)])"
    )
    order = ["--sort-by", "work-cycles", "--limit", "0"]
    words = [PROGRAM, "profile-query", profile, "--kind", "compute", *order, "--json"]
    answer = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    expected = [[it["name"], it["workCycles"]] for it in answer["groups"]]
    insist(shown == expected, f"the table shows {shown}, not {expected}")
    print(f"ok  the table of kernels is that of profile-query: {len(shown)} rows")
    for panel in PANELS:
        tab.value(PART.format(f"show-{panel}") + ".click()")
        tab.until(SHOWS.get(panel, "true"))
        tab.settled()
        alarm = tab.value("document.querySelector('[role=alert]')?.innerText")
        insist(not alarm, f"{panel}: {alarm}")
        print(f"ok  {panel}")


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: webkit.py PROFILE PACKAGE")
    profile, package = sys.argv[1:]
    browser = os.environ.get("WEBKIT") or next(iter(sorted(glob.glob(BROWSERS), reverse=True)), None)
    if browser is None:
        sys.exit(f"no WebKit at {BROWSERS}: install webkit2gtk-driver, or name it in WEBKIT")
    with contextlib.ExitStack() as end:
        words = [PROGRAM, "serve", "--port", "0", profile, package]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        end.callback(server.kill)
        port = free_port()
        driver = subprocess.Popen(["WebKitWebDriver", f"--port={port}"])
        end.callback(driver.kill)
        try:
            found = links(server, 3)
            tab = end.enter_context(contextlib.closing(Tab(port, browser)))
            check(tab, profile, *found[:3])
        except NotOk as failure:
            sys.exit(f"not ok  {failure}")


if __name__ == "__main__":
    main()
