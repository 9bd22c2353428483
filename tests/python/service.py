"""`wordmover serve` as a process, for tests."""

import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("WORDMOVER_BIN") or ROOT / "target/debug/wordmover"


class Service:
    """`wordmover serve` on a free port; its lines are collected as they come."""

    def __init__(self, *arguments, port=0):
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--port", str(port), *map(str, arguments)], stderr=subprocess.PIPE, text=True
        )
        self.lines, self.changed = [], threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()
        self.address = re.search(r"http://[^\s,]+", self.wait_for("ready")).group()

    def _read(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()

    def wait_for(self, part):
        found = []

        def is_there():
            found[:] = [line for line in self.lines if part in line]
            return found or self.process.poll() is not None

        with self.changed:
            assert self.changed.wait_for(is_there, 300), self.lines
        assert found, self.lines
        return found[-1]

    def post(self, path, body):
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)
