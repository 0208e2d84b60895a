# SPDX-License-Identifier: Apache-2.0
"""Compiles trained networks to Verilog and shows by simulation that the hardware computes what the model says.

    import lathe
    d = lathe.compile(model, calibration=x, fps=1e5)
    d.verify()                    # raises lathe.CheckFailed where the engines differ
    d.report().path               # an HTML page
    y = d.run(x, engine="rtl")

The work is done by the program lathe, which this package brings: `lathe --help` and `python -m lathe --help` show it.
docs/python.md explains the package.
"""

from importlib.metadata import version as _version

from .design import Design, compile
from .program import PROGRAM, CheckFailed, Error, Result

__all__ = ["PROGRAM", "CheckFailed", "Design", "Error", "Result", "compile"]
__version__ = _version("lathe")
