# SPDX-License-Identifier: Apache-2.0
"""The commands of the program as functions: their flags are arguments, with underscores for dashes.

Each takes a model as lathe.compile does, and returns a Result. What a command writes goes into the file or folder
output, or without it into a temporary one, which lives as long as the result.
"""

import os
import tempfile

from . import arrays, flags as flag, metric as metrics, model as models
from .design import Design, compile
from .program import CheckFailed, Result, call

emit_verilog = compile


class Quantized(Result):
    """What quantize returns: the facts, and a model for every other call, some of which are methods."""

    __module__ = "lathe"

    def __fspath__(self):
        return self.output

    def compile(self, **flags):
        """Compiles the graph to Verilog: a Design, as lathe.compile(self)."""
        return compile(self, **flags)

    def emit_cuda(self, output=None, **flags):
        """Compiles the graph to CUDA kernels, as lathe.emit_cuda(self)."""
        return emit_cuda(self, output, **flags)

    def run(self, inputs=None, engine="ref", **flags):
        """Computes outputs, as lathe.run(self)."""
        return run(self, inputs, engine, **flags)

    def verify(self, inputs=None, labels=None, **flags):
        """Simulates the hardware of the graph and compares the engines, as lathe.verify(self)."""
        return verify(self, inputs, labels, **flags)


class Trained(Quantized):
    """What train returns: the facts, and a model for every other call, some of which are methods."""

    __module__ = "lathe"


def profile(model, inputs, **flags):
    """Runs the float model on samples: ranges, percentiles, outliers and channels of each value and constant.

    flags are those of lathe profile: samples=100, html="profile.html". frame() has a row for each tensor.
    """
    return _measured("profile", model, {"inputs": inputs, **flags})


def sensitivity(model, inputs, labels=None, metric=None, **flags):
    """Measures what each layer alone loses in each format.

    flags are those of lathe sensitivity: formats=["fixed(4)", "mxint8"], parts="weight", calibrate=x. frame() has a row
    for each layer and format. metric is as for auto.
    """
    return _measured("sensitivity", model, {"inputs": inputs, "labels": labels, "metric": metric, **flags})


def sweep(model, inputs, labels=None, metric=None, **flags):
    """Measures the whole model in one format after the other: accuracy, SQNR, bits, predicted hardware.

    flags are those of lathe sweep: formats="fixed(3..8)", part="xc7a35t", no_cost=True. frame() has a row a format.
    metric is as for auto.
    """
    return _measured("sweep", model, {"inputs": inputs, "labels": labels, "metric": metric, **flags})


def auto(model, inputs, labels=None, metric=None, output=None, **flags):
    """Searches for each layer the cheapest format that is good enough.

    metric is "accuracy", "top5", "iou", "f1", "perplexity", "rmse", or a function of outputs, as run returns them, and
    of the labels of the same samples; more of what it returns is better. keep=0.9 is what a plan has to keep of it;
    without, half a percent may be lost.

    flags are those of lathe auto: accuracy=-0.5, sqnr=30, part="xc7a35t", formats="fixed(3..8)", separate=True,
    hold_out=30. Of the result, plan is the file of the best plan, for lathe.compile(model, plan=result.plan), and
    frame() has a row for each plan that was measured. Raises Error L0422 where none is good enough.
    """
    facts = _written("auto", model, "plans",
                     {"inputs": inputs, "labels": labels, "metric": metric, "output": output, **flags})
    facts["plan"] = os.path.join(facts.folder, "best.toml")
    return facts


def search(model, space, data, labels=None, eval=None, metric=None, output=None, storage=None, **flags):
    """Searches formats of layers by the trials of a study: best of the result has those that no other one beats.

    space is a search space as docs/search.md has it, as a dict, a text or a file: {"study": {"objectives": ["accuracy
    max", "lut min"]}, "quantize": [{"format": ["fixed(3..8)"]}]}. data are samples that calibrate; trials are measured
    on them, or on those of eval, a pair of samples and labels. flags are those of lathe search run: trials=200,
    sampler="nsga2", seed=1, part="xc7a35t". plan of each of the best is a file for lathe.compile(model, plan=...);
    where the space prunes or trains, graph is one for every call in place of the model.
    storage="run.log" or "sqlite:///run.db" keeps the study, which a later call, or Optuna, goes on with.
    """
    others, other_labels = (None, None) if eval is None else _pair("eval", eval)
    work = tempfile.TemporaryDirectory(prefix="lathe-")
    plans = os.path.join(work.name, "plans") if output is None else os.fspath(output)
    facts = _run(work.name, "search run", model, {
        "space": space, "data": data, "labels": labels, "eval": others, "eval_labels": other_labels, "metric": metric,
        "output": plans, "storage": storage or os.path.join(work.name, "search.log"), **flags})
    for trial in facts.best:
        for key, end in ("plan", ".toml"), ("graph", ".lathe"):
            path = os.path.join(plans, f"trial-{trial['trial']}{end}")
            if os.path.exists(path):
                trial[key] = path
    if output is None or storage is None:
        facts.keep(work)
    return facts


def quantize(model, calibrate=None, labels=None, output=None, **flags):
    """Quantizes a model and measures the error of each node. The result is a model for every other call.

    labels are those of the samples in calibrate. flags are those of lathe quantize: bits=6, round_weights="gptq",
    correct_bias=True, tune=True, explain=True. Where the model loses much, remedies.helping has what was measured to
    help, the best first: quantize(model, x, **result.remedies.helping[0].arguments).
    """
    quantized = _model(Quantized, _written("quantize", model, "model.lathe", {
        "calibrate": calibrate, "labels": labels, "output": output, **flags}))
    for remedy in (quantized.get("remedies") or {}).get("helping") or ():
        name, _, value = remedy.flag.removeprefix("--").partition(" ")
        remedy["arguments"] = Result({name.replace("-", "_"): value or True})
    return quantized


def train(model, data, plan=None, eval=None, output=None, **flags):
    """Trains a model as the hardware will compute it. The result is a model for every other call.

    data is a pair of samples and labels; eval is another pair, on which accuracy is measured: accuracy.quantized of
    the result. Samples are arrays, or a list of texts, or of pairs of texts, for a model that takes token numbers;
    tokenizer="tokenizer.json" makes those. A plan's [train], [prune], [lora] and [distill] say how. flags are those of
    lathe train: bits=3, epochs=20, lr=0.003, seed=2, method="distill". The result's log is the folder of checkpoints
    and curves, which lives as long as output does; with output, a call that was interrupted goes on where it ended.
    """
    samples, labels = _pair("data", data)
    others, other_labels = (None, None) if eval is None else _pair("eval", eval)
    return _model(Trained, _written("train", model, "model.lathe", {
        "data": samples, "labels": labels, "eval": others, "eval_labels": other_labels, "plan": plan,
        "output": output, **flags}))


def train_sweep(kind, model, data, eval, plan=None, output=None, **flags):
    """Trains a model under one setting after the other, several seeds each: points of the result.

    kind is "ptq-qat" (formats="fixed(2..6)"), "prune" (sparsities=["0.5", "2:4"], methods=["l1"]), "lora" (ranks=[2,
    4]) or "bits" (prices=[1e-5, 1e-4]). data and eval are pairs as for train; flags are those of lathe sweep KIND:
    seeds=10, epochs=20, fresh=40. With output, a folder, graphs of seed 1 stay, and an interrupted call goes on.
    """
    samples, labels = _pair("data", data)
    others, other_labels = _pair("eval", eval)
    return _measured(f"sweep {kind}", model, {
        "data": samples, "labels": labels, "eval": others, "eval_labels": other_labels, "plan": plan, "output": output,
        **flags})


def run(model, inputs=None, engine="ref", *, codes=None, output=None, **flags):
    """Computes outputs: an array, or a dict of several, as Design.run does.

    Without plan and calibrate it computes in float, but for engine="rtl".
    """
    facts = _written("run", model, "outputs.npz",
                     {"inputs": inputs, "engine": engine, "codes": codes, "output": output, **flags})
    return arrays.read(facts.output)


def verify(model, inputs=None, labels=None, **flags):
    """Makes hardware, simulates it and compares the engines code by code, as Design.verify does."""
    return _measured("verify", model, {"inputs": inputs, "labels": labels, **flags})


def report(model, inputs=None, labels=None, output=None, **flags):
    """Does what verify and area do and writes one HTML page: path of the result."""
    facts = _written("report", model, "report.html", {"inputs": inputs, "labels": labels, "output": output, **flags})
    facts["path"] = facts.pop("folder")
    return facts


def plan(model, **flags):
    """Makes a plan with all that flags and calibration decide: plan of the result, a text for lathe.compile."""
    return _measured("plan", model, flags)


def inspect(model, **flags):
    """Lists nodes with shapes, formats, parameters and MACs."""
    return _measured("inspect", model, flags)


def diff(model, other, **flags):
    """Compares two models: same of the result says whether they are equal."""
    with tempfile.TemporaryDirectory(prefix="lathe-") as one, tempfile.TemporaryDirectory(prefix="lathe-") as two:
        try:
            return call("diff", models.file(model, one, None), models.file(other, two, None), *flag.of(flags, one))
        except CheckFailed as e:
            return e.facts


def emit_cuda(model, output=None, **flags):
    """Compiles a model to a folder of CUDA kernels: folder of the result.

    flags are those of lathe emit-cuda: arch="sm_90", act="fp32", calibrate=x. frame() has a row for each launch.
    """
    return _written("emit-cuda", model, "kernels", {"output": output, **flags})


def bench_cuda(model, **flags):
    """Measures each CUDA kernel of a model on this machine's GPU, beside predictions."""
    return _measured("bench-cuda", model, flags)


def replay(recording, **flags):
    """Repeats kernel launches that run(engine="cuda", record=folder) recorded, and compares the results."""
    return call("replay", os.fspath(recording), *flag.of(flags, ""))


def area(design, **flags):
    """Counts LUT, FF, DSP and block RAM of a Design, its folder, or a model with Yosys."""
    return _measured("area", design.folder if isinstance(design, Design) else design, flags)


def route(design, **flags):
    """Places and routes a Design, or its folder, with nextpnr.

    flags are those of lathe route: part="ecp5-85k", clock=100, seeds=4, timeout=600 (seconds).
    """
    return call("route", design.folder if isinstance(design, Design) else os.fspath(design), *flag.of(flags, ""))


def convert(values, format, decode=False):
    """Encodes an array: a dict of codes, values and, of block formats, scales. decode takes such a dict to values."""
    with tempfile.TemporaryDirectory(prefix="lathe-") as folder:
        return _arrays(folder, "convert", values, f"--format={format}", *(["--decode"] if decode else []))


def dot(x, y, a, b):
    """The exact sums of products of x's rows, encoded in the format a, and y, encoded in b."""
    with tempfile.TemporaryDirectory(prefix="lathe-") as folder:
        return _arrays(folder, "dot", {"a": x, "b": y}, f"--a={a}", f"--b={b}")


def list(what):
    """Lists "ops", "formats", "passes", "targets", "rtl" or "cuda"."""
    return call("list", what)


def doctor():
    """Says which tools are installed, what is lost without the others, and how to get them."""
    return call("doctor")


def _measured(command, model, flags):
    """Runs a command of a model that writes no file but those that flags name."""
    with tempfile.TemporaryDirectory(prefix="lathe-") as folder:
        return _run(folder, command, model, flags)


def _written(command, model, name, flags):
    """Runs a command that writes its output, and keeps it as long as the result where no place for it is given."""
    work = tempfile.TemporaryDirectory(prefix="lathe-")
    flags = flag.named(flags)
    kept = flags.get("output") is not None
    flags["output"] = os.fspath(flags["output"]) if kept else os.path.join(work.name, name)
    facts = _run(work.name, command, model, flags)
    if "output" not in facts:
        facts.setdefault("folder", flags["output"])
    if not kept:
        facts.keep(work)
    return facts


def _model(kind, facts):
    """The facts of a command that saved a graph, as a model of this kind."""
    out = kind(facts)
    out.__dict__.update(facts.__dict__)
    return out


def _pair(name, value):
    if not isinstance(value, (tuple, type([]))) or len(value) != 2:  # list is a command here
        raise TypeError(f"{name} is a pair of samples and labels: {name}=(x, y)")
    return value


def _run(folder, command, model, flags):
    flags = flag.named(flags)
    samples = ("example", "calibrate", "inputs", "data")
    example = next((flags[name] for name in samples if flags.get(name) is not None), None)
    path = models.file(model, folder, example)
    if models.is_module(model):
        flags.pop("example", None)  # its shapes are in the export
    answer = None
    if callable(flags.get("metric")):
        flags, answer = metrics.asked(flags, folder)
    return call(*command.split(), path, *flag.of(flags, folder), answer=answer)


def _arrays(folder, command, values, *args):
    out = os.path.join(folder, "out.npz")
    call(command, f"--in={arrays.npz(values, os.path.join(folder, 'in.npz'))}", f"--out={out}", *args)
    return arrays.read(out)
