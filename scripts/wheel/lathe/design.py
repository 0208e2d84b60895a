# SPDX-License-Identifier: Apache-2.0
"""A compiled model: its folder of Verilog, and what can be done with it."""

import os
import tempfile

from . import arrays, model as models, plan as plans
from .program import call


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
    work = tempfile.TemporaryDirectory(prefix="lathe-")
    path = models.file(model, work.name, calibration if example is None else example)
    if "bind" in flags:
        flags["bind"] = arrays.npz(flags["bind"], os.path.join(work.name, "bind.npz"))
    plan = plans.file(plan, os.path.join(work.name, "plan.toml"))
    choices = [f"--plan={plan}", *_flags({"fps": fps, "part": part, "bits": bits, "dsp": dsp, "clock": clock})]
    if calibration is not None:
        choices.append(f"--calibrate={arrays.npz(calibration, os.path.join(work.name, 'calibration.npz'))}")
    folder = os.path.join(work.name, "design") if folder is None else os.fspath(folder)
    source = _flags(flags)
    facts = call("emit-verilog", path, *source, *choices, *_flags({"output": folder, "top": top, "vectors": vectors}))
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

    def verify(self, inputs=None, labels=None, **flags):
        """Simulates the hardware and compares reference, PJRT and RTL code by code; returns the facts.

        inputs are samples as for run, labels their classes, for accuracy; flags are those of lathe verify, as
        samples=100, stalls=50. Raises CheckFailed where a code differs.
        """
        with tempfile.TemporaryDirectory(prefix="lathe-") as folder:
            return call("verify", *self._arguments(), *_samples(folder, inputs, labels), *_flags(flags))

    def report(self, path=None, inputs=None, labels=None, **flags):
        """Does what verify and area do and writes one HTML page; returns the facts, and the page's path as path."""
        path = os.path.join(self._work.name, "report.html") if path is None else os.fspath(path)
        with tempfile.TemporaryDirectory(prefix="lathe-") as folder:
            facts = call("report", *self._arguments(), *_samples(folder, inputs, labels), f"--output={path}",
                         *_flags(flags))
        facts["path"] = path
        return facts

    def area(self):
        """Counts LUT, FF, DSP and block RAM with Yosys: total, and instances one by one."""
        return call("area", self.folder)

    def run(self, inputs, engine="ref", *, quantized=True, codes=False, **flags):
        """Computes outputs: an array, or a dict of several.

        inputs is an array, a mapping of arrays by input, or the path of an .npz file; the leading axis counts samples.
        engine is "ref" (Go), "pjrt" (XLA), "rtl" (the simulated hardware) or "cuda". quantized=False computes in
        float, as the model was imported. codes=True returns integer codes instead of values.
        """
        with tempfile.TemporaryDirectory(prefix="lathe-") as folder:
            out = os.path.join(folder, "outputs.npz")
            given = arrays.npz(inputs, os.path.join(folder, "inputs.npz"))
            call("run", *self._arguments(quantized), f"--inputs={given}", f"--output={out}",
                 *_flags({"engine": engine, "codes": codes, **flags}))
            return arrays.read(out)

    def _arguments(self, quantized=True):
        return [self._model, *self._source, *(self._choices if quantized else [])]


def _samples(folder, inputs, labels):
    flags = []
    if inputs is not None:
        flags.append(f"--inputs={arrays.npz(inputs, os.path.join(folder, 'inputs.npz'))}")
    if labels is not None:
        flags.append(f"--labels={arrays.npy(labels, os.path.join(folder, 'labels.npy'))}")
    return flags


def _flags(values):
    """Flags of the program: model_inputs="x" is --model-inputs=x, True is the flag alone, None and False are none."""
    out = []
    for name, value in values.items():
        name = "--" + name.replace("_", "-")
        if isinstance(value, dict):
            sizes = {k: "x".join(map(str, v)) if isinstance(v, (list, tuple)) else v for k, v in value.items()}
            out += [f"{name}={k}={v}" for k, v in sizes.items()]
        elif isinstance(value, (list, tuple)):
            out += [f"{name}={v}" for v in value]
        elif value is True:
            out.append(name)
        elif value is not None and value is not False:
            out.append(f"{name}={value}")
    return out

