"""What a benchmark runs in: our programs built, peers installed, the machine described."""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"
ENVIRONMENTS = tomllib.loads((BENCH / "environments.toml").read_text())
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "RAYON")
}
PIP = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def call(*command, **options):
    """Runs a command that must succeed; what it prints goes to standard error."""
    options = {"cwd": ROOT, "stdout": sys.stderr, **options}
    done = subprocess.run([*map(str, command)], check=False, text=True, **options)
    if done.returncode:
        sys.exit(f"error: {' '.join(map(str, command))} failed\n{done.stderr or ''}")
    return done.stdout


class Watched:
    """A command that must succeed: what it printed and what it said on standard error, seconds on
    the clock and of processors, peak megabytes. What this process has had counts as the peak of those that it
    starts, so large files are better not read into memory before."""

    def __init__(self, *command):
        command = [*map(str, command)]
        with tempfile.TemporaryFile("w+") as output:
            start = time.monotonic()
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, text=True)
            self.said = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = status
            self.seconds = time.monotonic() - start
            output.seek(0)
            self.printed = output.read()
        if status:
            sys.exit(f"error: {' '.join(command)} failed\n{self.said}")
        self.processor_seconds = usage.ru_utime + usage.ru_stime
        self.peak = usage.ru_maxrss * 1024 / 1e6


def build(package, name, features=None):
    """Builds a program in release mode, with these features beside the default ones, and returns
    its path."""
    print(f"building {name}", file=sys.stderr)
    asked = ["--features", features] if features else []
    messages = call("cargo", "build", "--release", "--package", package, "--bin", name, *asked,
                    "--message-format=json-render-diagnostics", stdout=subprocess.PIPE)
    for message in map(json.loads, messages.splitlines()):
        if message.get("executable") and message["target"]["name"] == name:
            return message["executable"]
    sys.exit(f"error: cargo did not say where it put {name}")


def program():
    """The program `wordmover`."""
    return build("wordmover-cli", "wordmover")


def python(name):
    """The interpreter of the virtual environment of this name, which is made if need be."""
    venv = ROOT / "target" / f"bench-{name}"
    python, wanted = venv / "bin" / "python", ENVIRONMENTS[name]
    installed = venv / "installed.txt"
    packages = [*wanted["packages"], *(["maturin==1.16.0"] if wanted.get("wheel") else [])]
    if not installed.exists() or installed.read_text() != "\n".join(packages):
        print(f"installing in {venv.relative_to(ROOT)}", file=sys.stderr)
        base = shutil.which("python3.11") or sys.executable
        call(base, "-m", "venv", "--clear", venv)
        call(python, *PIP, *packages)
        installed.write_text("\n".join(packages))
    return python


def enter(name):
    """Goes on in the virtual environment of this name."""
    venv = ROOT / "target" / f"bench-{name}"
    if Path(sys.prefix).resolve() == venv.resolve():
        return
    interpreter = python(name)
    if ENVIRONMENTS[name].get("wheel"):
        print("building the wheel", file=sys.stderr)
        wheels = venv / "wheels"
        shutil.rmtree(wheels, ignore_errors=True)
        call(venv / "bin" / "maturin", "build", "--release", "--quiet", "--out", wheels,
             "--interpreter", interpreter, "-m", ROOT / "python" / "Cargo.toml")
        call(interpreter, *PIP, "--force-reinstall", "--no-deps", *wheels.iterdir())
    else:
        os.environ.update(ONE_THREAD)
    os.execv(interpreter, [str(interpreter), *sys.argv])


def said_by(*command):
    try:
        output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return output.stdout.strip()


def is_dirty():
    """Whether anything is changed but what benchmarks write themselves."""
    written = [":!bench/records", ":!bench/REPORT.md", ":!docs/*.svg"]
    return said_by("git", "status", "--porcelain", "--", ".", *written) != ""


def cpu():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def facts():
    """Machine and versions."""
    return {
        "machine": f"{cpu()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "load averages at the end": ", ".join(f"{load:.1f}" for load in os.getloadavg()),
        "revision": said_by("git", "rev-parse", "--short=12", "HEAD") + ("-dirty" if is_dirty() else ""),
        "rustc": said_by("rustc", "--version"),
        "Python": platform.python_version(),
    }
