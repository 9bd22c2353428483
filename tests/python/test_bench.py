"""The benchmarks are well defined, and their report is made of their records."""

import pathlib
import sys
import tomllib

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import environment  # noqa: E402
import record  # noqa: E402

DEFINITIONS = {
    file.stem: tomllib.loads(file.read_text())
    for file in sorted((BENCH / "definitions").glob("*.toml"))
}


def test_definitions_are_complete():
    for name, definition in DEFINITIONS.items():
        assert definition["title"] and definition["answers"], name
        assert (BENCH / "measure" / f"{definition['measure']}.py").exists(), name
        assert definition.get("environment", "peers") in environment.ENVIRONMENTS, name
        # The small parameters replace, and add none.
        assert definition["quick"].keys() <= definition["parameters"].keys(), name


def test_the_report_is_that_of_the_records():
    report = BENCH / "REPORT.md"
    committed = report.read_text()
    try:
        assert record.report(DEFINITIONS) == committed
    finally:
        report.write_text(committed)
