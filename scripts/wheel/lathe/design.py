# SPDX-License-Identifier: Apache-2.0
"""A compiled model: its folder of Verilog, and what can be done with it."""

import os
import tempfile

from . import arrays, flags as flag, model as models
from .board import Board
from .program import call

# The arguments of compile that quantize or decide hardware, the plan first; those of the emission alone; all others
# say how the model is read.
_CHOICES = ("plan", "calibrate", "calibrate_labels", "fps", "part", "bits", "dsp", "clock", "lengths", "decode",
            "round_weights", "correct_bias", "equalize", "smooth", "wide")
_EMISSION = ("output", "top", "vectors", "labels", "dump_html")


def compile(model, *, calibration=None, plan=None, fps=None, part=None, bits=None, dsp=None, clock=None, folder=None,
            example=None, top=None, vectors=None, **flags):
    """Compiles a model to Verilog and returns the Design.

    model        a path, a StableHLO text, bytes, an ONNX proto, a module of PyTorch, an export of PyTorch or JAX
    calibration  samples from which formats follow: an array, a mapping of them by input, or the path of an .npz file
    plan         all other choices: a path, a text, or a dict, {"fold": {"mode": "unroll"}}
    fps          samples a second to reach with the least area, at the clock
    part, clock  the FPGA and its clock in MHz
    bits         the width of data and weights
    dsp          what multiplies in folded layers: "one", "pack" or "none"; these five stand above the plan
    folder       where the design goes; else a temporary folder, which goes with the Design
    example      arguments to export a module of PyTorch with; else the first sample of the calibration
    top, vectors the name of the top module; how many samples the testbench has
    flags        any other flag of lathe emit-verilog: outputs=["fc3"], bind={"w": w}, shape={"x": (1, 64)}

    Raises lathe.Error with the text that the command prints.
    """
    values = {"calibration": calibration, "plan": {} if plan is None else plan, "fps": fps, "part": part, "bits": bits,
              "dsp": dsp, "clock": clock, "folder": folder, "top": top, "vectors": vectors, **flags}
    values = flag.named(values)
    work = tempfile.TemporaryDirectory(prefix="lathe-")
    path = models.file(model, work.name, values.get("calibrate") if example is None else example)
    if example is not None and not models.is_module(model):
        values["example"] = example
    if values.get("output") is None:
        values["output"] = os.path.join(work.name, "design")
    emission = {name: values.pop(name) for name in _EMISSION if name in values}
    choices = {name: values.pop(name) for name in _CHOICES if name in values}
    choices, source = flag.of(choices, work.name), flag.of(values, work.name)
    facts = call("emit-verilog", path, *source, *choices, *flag.of(emission, work.name))
    return Design(work, path, source, choices, facts)


class Design:
    """A compiled model. folder holds the Verilog, plan the file of the plan, facts what emit-verilog says of it."""

    __module__ = "lathe"

    def __init__(self, work, path, source, choices, facts):
        self._work, self._model, self._source, self._choices = work, path, source, choices
        self.facts, self.folder, self.top = facts, facts["folder"], facts["top"]
        self.plan = choices[0].removeprefix("--plan=")

    def __str__(self):
        return str(self.facts)

    def _repr_html_(self):
        return self.facts._repr_html_()

    def verify(self, inputs=None, labels=None, **flags):
        """Simulates the hardware and compares reference, PJRT and RTL code by code; returns the facts.

        inputs are samples as for run, labels their classes, for accuracy; flags are those of lathe verify, as
        samples=100, stalls=50. Raises CheckFailed where a code differs.
        """
        with tempfile.TemporaryDirectory(prefix="lathe-") as folder:
            return call("verify", *self._arguments(), *flag.of({"inputs": inputs, "labels": labels, **flags}, folder))

    def report(self, path=None, inputs=None, labels=None, **flags):
        """Does what verify and area do and writes one HTML page; returns the facts, and the page's path as path."""
        path = os.path.join(self._work.name, "report.html") if path is None else os.fspath(path)
        with tempfile.TemporaryDirectory(prefix="lathe-") as folder:
            facts = call("report", *self._arguments(), f"--output={path}",
                         *flag.of({"inputs": inputs, "labels": labels, **flags}, folder))
        facts["path"] = path
        return facts

    def area(self):
        """Counts LUT, FF, DSP and block RAM with Yosys: total, and instances one by one."""
        return call("area", self.folder)

    def route(self, **flags):
        """Places and routes with nextpnr, as lathe.route: part="ecp5-85k", clock=100, seeds=4."""
        return call("route", self.folder, *flag.of(flags, ""))

    def board(self, name):
        """The design on a board that lathe board list shows: d.board("ulx3s-85f").run(x)."""
        return Board(self, name, self._arguments())

    def run(self, inputs, engine="ref", *, quantized=True, codes=False, **flags):
        """Computes outputs: an array, or a dict of several.

        inputs is an array, a mapping of arrays by input, or the path of an .npz file; the leading axis counts samples.
        engine is "ref" (Go), "pjrt" (XLA), "rtl" (the simulated hardware) or "cuda". quantized=False computes in
        float, as the model was imported. codes=True returns integer codes instead of values.
        """
        with tempfile.TemporaryDirectory(prefix="lathe-") as folder:
            out = os.path.join(folder, "outputs.npz")
            values = {"inputs": inputs, "engine": engine, "codes": codes or None, **flags}
            call("run", *self._arguments(quantized), f"--output={out}", *flag.of(values, folder))
            return arrays.read(out)

    def _arguments(self, quantized=True):
        return [self._model, *self._source, *(self._choices if quantized else [])]
