"""One of our programs that works whenever a line is written to it."""

import subprocess
import sys


class Asked:
    def __init__(self, program, *arguments, env=None):
        self.name = program
        self.process = subprocess.Popen(
            [program, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=env,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"error: {self.name} ended early")
        return line

    def numbers(self):
        return [float(number) for number in self.line().split()]

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return self.numbers()
