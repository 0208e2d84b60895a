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

from .commands import (Quantized, Trained, area, auto, bench_cuda, convert, diff, doctor, dot, emit_cuda, emit_verilog,
                       inspect, list, plan, profile, quantize, replay, report, route, run, search, sensitivity, sweep,
                       train, train_sweep, verify)
from .design import Design, compile
from .program import PROGRAM, ArgumentError, CheckFailed, Error, Result

# Without list, which would hide Python's own after an import of everything.
__all__ = ["PROGRAM", "ArgumentError", "CheckFailed", "Design", "Error", "Quantized", "Result", "Trained", "area",
           "auto", "bench_cuda", "compile", "convert", "diff", "doctor", "dot", "emit_cuda", "emit_verilog", "inspect",
           "plan", "profile", "quantize", "replay", "report", "route", "run", "search", "sensitivity", "sweep",
           "train", "train_sweep", "verify"]
__version__ = _version("lathe")
