"""Calls POT on a file of problems, to be counted. Only the compiled module is imported,
behind stand-ins for the packages around it, whose imports would take callgrind half a minute."""

import sys
from importlib.util import find_spec
from types import ModuleType

folder = find_spec("ot").submodule_search_locations[0]
for name, path in (("ot", folder), ("ot.lp", folder + "/lp"), ("ot.utils", None)):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [path] if path else []
sys.modules["ot.utils"].dist = None
import numpy  # noqa: E402
from ot.lp.emd_wrap import emd_c  # noqa: E402

values = numpy.fromfile(sys.argv[1])
sizes, at = values.view(numpy.uint64), 1


def take(n):
    global at
    at += n
    return values[at - n:at].copy()


for _ in range(int(sizes[0])):
    rows, columns = int(sizes[at]), int(sizes[at + 1])
    at += 2
    costs, supply, demand = take(rows * columns), take(rows), take(columns)
    emd_c(supply, demand, costs.reshape(rows, columns), 1_000_000, 1)
