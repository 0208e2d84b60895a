# SPDX-License-Identifier: Apache-2.0
"""Calls everything that the package offers on an example, without long simulations: python api.py EXAMPLE FAILING STUCK.

FAILING is a program whose check fails, STUCK one that ends when it is told to.
"""

import logging
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import numpy
import torch  # the stand-in

import lathe

example, failing, stuck = sys.argv[1:]
path = os.path.join(example, "model.onnx")
x = numpy.load(os.path.join(example, "inputs.npz"))["x"][:20]
labels = numpy.load(os.path.join(example, "labels.npy"))[:20]
outputs = numpy.load(os.path.join(example, "outputs.npz"))["logits"][:20]
calibration = os.path.join(example, "calib.npz")


def refused(code, call, kind=lathe.Error, text=""):
    try:
        call()
    except kind as e:
        assert getattr(e, "code", "") == code and text in str(e), repr(e)
        return e
    raise AssertionError(f"no {code}")


# Every form of a model gives the same design; arrays, tensors, lists and mappings give the same values.
design = lathe.compile(path, calibration=calibration)
assert os.path.exists(os.path.join(design.folder, "design.json")) and design.top == "model", design.facts
assert "slowest unit" in str(design) and design.facts.units[0].node == "x", str(design)
y = design.run(x)
assert y.shape == (20, 5) and numpy.abs(y - outputs).max() < 2, y
assert numpy.abs(design.run(x, quantized=False) - outputs).max() < 1e-3
equal = lathe.compile(path, calibrate=calibration, equalize=True, bits=4)
assert numpy.abs(equal.run(x, quantized=False) - outputs).max() < 1e-3 < numpy.abs(equal.run(x) - outputs).max()
on_board = design.board("icebreaker")
assert (on_board.run(x, compare="ref") == y).all() and on_board.facts.compared_codes == 100, on_board.facts
refused("L1204", lambda: on_board.run(x, port="nowhere"))
refused("L1201", lambda: design.board("none").run(x), lathe.ArgumentError)
codes = design.run(x, codes=True)
assert codes.dtype.kind == "i" and (codes == y * (codes[0, 0] / y[0, 0])).all()
for same in (x.astype("float64"), numpy.asfortranarray(x), x.tolist(), {"x": x}, (x,), torch.Tensor(x)):
    assert (design.run(same) == y).all(), same


class Proto:
    def SerializeToString(self):
        return pathlib.Path(path).read_bytes()


inner = torch.nn.Module("")
inner.training = False
module = torch.nn.Module(os.path.join(example, "model.pt2"), inner)
samples = dict(numpy.load(calibration))
for model in (pathlib.Path(path), pathlib.Path(path).read_bytes(), Proto(), module):
    assert (lathe.compile(model, calibration=samples).run(x) == y).all(), model
assert module.shapes == [(1, 16)] and module.training and not inner.training, "the modes of training are left alone"
lathe.compile(module, example=(torch.Tensor(x[:1]),))

# Choices go into the plan, for run as well; a folder stays.
with tempfile.TemporaryDirectory() as folder:
    small = lathe.compile(path, calibration=samples, fps=1e5, bits=6, clock=200, part="xc7a100t", dsp="none", top="net",
                          vectors=0, folder=os.path.join(folder, "net"), outputs=["3"])
    assert small.top == "net" and small.facts.balance.clock_mhz == 200, small.facts
    assert small.facts.units[0].format.startswith("fixed(6,") and small.folder == os.path.join(folder, "net")
    assert small.run(x).shape == (20, 32)
    work = os.path.dirname(small.plan)
    del small
    assert os.path.exists(os.path.join(folder, "net")) and not os.path.exists(work)
rules = {"quantize": {"data": "fixed(10)", "rule": [{"name": "0", "weight": "fixed(4)"}]}, "fold": {"mode": "unroll"}}
unrolled = lathe.compile(path, calibration=samples, plan=rules)
assert unrolled.facts.units[-1].cycles == 1, unrolled
text = pathlib.Path(unrolled.plan).read_text()
for plan in (text, unrolled.plan):
    assert lathe.compile(path, calibration=samples, plan=plan, dsp="none").facts.units == unrolled.facts.units

# Errors are those of the command.
e = refused("L0201", lambda: lathe.compile(path + "x"), text="hint: did you mean")
command = subprocess.run([os.path.join(os.path.dirname(sys.executable), "lathe"), "inspect", path + "x"],
                         stderr=subprocess.PIPE, text=True)
assert command.returncode == 1 and command.stderr == f"lathe: {e}\n", command.stderr
e = refused("L0101", lambda: design.verify(stall=30), lathe.ArgumentError, "unexpected argument stall\n")
assert isinstance(e, TypeError) and "did you mean stalls? lathe verify --help lists the arguments" in str(e), e
refused("L0910", lambda: design.run(x[:, :5]))
refused("L0760", lambda: design.area())  # there is no Yosys
refused("", lambda: lathe.compile(3), TypeError, "not int")
refused("", lambda: lathe.compile(module), TypeError, "give example= or calibration=")
refused("", lambda: design.facts.unit, AttributeError, "no fact 'unit'")
os.environ["LATHE_PJRT_PLUGIN"] = "/none"
refused("L0801", lambda: design.run(x, engine="pjrt"))

# A check that fails has its facts; progress, notes and warnings are logged; what interrupts a call ends the program.
lines = []
handler = logging.Handler()
handler.emit = lambda record: lines.append((record.levelname, record.getMessage()))
logging.getLogger("lathe").addHandler(handler)
logging.getLogger("lathe").setLevel(logging.INFO)
lathe.program.PROGRAM = failing
e = refused("", lambda: design.verify(x, labels), lathe.CheckFailed, "mismatches 3")
assert e.facts.mismatches == 3
assert lines == [("INFO", "simulate ..."), ("WARNING", "warning: wide"), ("INFO", "note: slow")], lines
lathe.program.PROGRAM = stuck


def interrupt(*_):
    raise KeyboardInterrupt


handler.emit = lambda record: signal.raise_signal(signal.SIGALRM)  # once it runs
signal.signal(signal.SIGALRM, interrupt)
refused("", lambda: design.verify(), KeyboardInterrupt)
assert os.path.exists(stuck + ".ended")
