"""Where arrays live: on a GPU if there is one."""

from functools import cache

import numpy as np


@cache
def arrays():
    """CuPy where it finds a GPU, on which the large corpora take minutes instead of hours, or NumPy."""
    try:
        import cupy

        return cupy if cupy.cuda.runtime.getDeviceCount() else np
    except Exception:  # no CuPy, or one without a driver
        return np
