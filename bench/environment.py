"""What a benchmark runs in: our program built, the peers installed, the machine described."""

import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / "target" / "peers-venv"
ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "RAYON")
}


def build(example="time_solver", package="wordmover"):
    """Builds an example in release mode and returns its path."""
    command = ["cargo", "build", "--release", "--package", package, "--example", example]
    if not shutil.which("cargo"):
        sys.exit("error: cargo is not on the path")
    print(f"building {example}", file=sys.stderr)
    messages = subprocess.run(
        [*command, "--message-format=json-render-diagnostics"],
        cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True,
    )
    if messages.returncode:
        sys.exit("error: the build failed")
    for line in messages.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == example:
            return message["executable"]
    sys.exit(f"error: cargo did not say where it put {example}")


def requirements(name="peers"):
    return ROOT / "bench" / f"{name}-requirements.txt"


def peers_python(name="peers"):
    """The interpreter of the virtual environment target/<name>-venv with the peers, made
    when it is missing or older than the requirements."""
    venv = ROOT / "target" / f"{name}-venv"
    python, installed = venv / "bin" / "python", venv / "installed.txt"
    wanted = requirements(name).read_text()
    if python.exists() and installed.exists() and installed.read_text() == wanted:
        return str(python)
    print(f"installing the peers in {venv.relative_to(ROOT)}", file=sys.stderr)
    base = shutil.which("python3.11") if sys.version_info[:2] != (3, 11) else None
    for command in (
        [base or sys.executable, "-m", "venv", "--clear", venv],
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
         "--requirement", requirements(name)],
    ):
        if subprocess.run(command, stdout=sys.stderr, check=False).returncode:
            sys.exit("error: cannot install the peers (the versions are for CPython 3.11)")
    installed.write_text(wanted)
    return str(python)


def wheel_python(name, requirements):
    """The interpreter of target/<name>-bench-venv with these packages and the wheel of
    today's sources, built in release mode."""
    venv = ROOT / "target" / f"{name}-bench-venv"
    python = venv / "bin" / "python"
    if not python.exists():
        print(f"installing in {venv.relative_to(ROOT)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "maturin==1.16.0", *requirements], check=True)
    print("building the wheel", file=sys.stderr)
    wheels = ROOT / "target" / "bench-wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    subprocess.run([venv / "bin" / "maturin", "build", "--release", "--quiet", "--out", wheels,
                    "--interpreter", python, "-m", ROOT / "python" / "Cargo.toml"], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                    "--force-reinstall", "--no-deps", *wheels.iterdir()], check=True)
    return python


def packages(name="peers"):
    return ", ".join(requirements(name).read_text().split())


def said_by(*command):
    try:
        output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return output.stdout.strip()


def _cpu():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def facts(seed, **versions):
    """Machine, versions and command, one a line."""
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    lines = {
        "command": " ".join([f"bench/{Path(sys.argv[0]).name}", *sys.argv[1:]]),
        "seed": seed,
        "machine": f"{_cpu()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "load averages at the end": load,
        "revision": said_by("git", "describe", "--always", "--abbrev=12", "--dirty"),
        "rustc": said_by("rustc", "--version"),
        "Python": platform.python_version(),
        **versions,
    }
    return "".join(f"- {name}: {value}\n" for name, value in lines.items())


def record(name, title, facts, text):
    """Writes `bench/records/<date>-<name>.md`, over an earlier one of the same day."""
    path = ROOT / "bench" / "records" / f"{datetime.date.today()}-{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"# {title}\n\n{facts}\n{text}")
    print(f"recorded in {path.relative_to(ROOT)}", file=sys.stderr)


def table(head, rows):
    """A Markdown table that also reads well as it is."""
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    rule = ["-" * (width - 1) + ":" for width in widths]
    lines = (
        "| " + " | ".join(cell.rjust(width) for cell, width in zip(row, widths)) + " |"
        for row in (head, rule, *rows)
    )
    return "\n".join(lines) + "\n"
