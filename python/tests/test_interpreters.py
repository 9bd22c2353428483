"""Subinterpreters are refused clearly; free-threaded builds are said to be served."""

import subprocess
import sys
import textwrap

import pytest


def test_a_subinterpreter_is_refused_by_name():
    code = """
        import wordmover
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        own = interpreters.create()
        script = '''
        try:
            import wordmover
        except ImportError as error:
            print("refused:", error)
        else:
            print("imported")
        '''
        import textwrap
        failed = None
        if hasattr(interpreters, "exec"):
            failed = interpreters.exec(own, textwrap.dedent(script))
        else:
            interpreters.run_string(own, textwrap.dedent(script))
        assert failed is None, failed
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                          text=True, timeout=120, check=False)
    if "No module named '_xxsubinterpreters'" in done.stderr:
        pytest.skip("this Python has no subinterpreters")
    assert done.returncode == 0, done.stderr
    assert "refused:" in done.stdout and "interpreter" in done.stdout, done.stdout
