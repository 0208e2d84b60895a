# SPDX-License-Identifier: Apache-2.0
"""Calls the commands of the package on an example, without simulations: python commands.py EXAMPLE."""

import os
import subprocess
import sys
import tempfile
import types

import numpy

import lathe

example, = sys.argv[1:]
path = os.path.join(example, "model.onnx")
x = numpy.load(os.path.join(example, "inputs.npz"))["x"][:60]
labels = numpy.load(os.path.join(example, "labels.npy"))[:60]
sys.modules["pandas"] = None  # it cannot be imported, whatever is installed

# Every command of the program is a function.
text = subprocess.run([lathe.PROGRAM, "help"], stdout=subprocess.PIPE, text=True).stdout
listed = text.split("Available Commands:\n")[1].split("\n\n")[0]
commands = [line.split()[0] for line in listed.splitlines()]
assert "sweep" in commands, text
lacking = [c for c in commands if not callable(getattr(lathe, c.replace("-", "_"), None))]
assert lacking == ["board", "fmt", "help"], lacking


def refused(text, call, kind=lathe.ArgumentError):
    try:
        call()
    except kind as e:
        assert text in str(e), e
        return e
    raise AssertionError(f"not refused: {text}")


# What is measured is the same as on the command line.
profiled = lathe.profile(path, x, channels=True)
rows = profiled.frame()
assert rows[0]["name"] == "x" and abs(rows[0]["max"] - x.max()) < 1e-6 and profiled.samples == 60, rows[0]
alone = lathe.sensitivity(path, x, labels, formats=["fixed(4)", "fixed(6)"], parts="weight")
assert {r["format"] for r in alone.frame()} == {"fixed(4)", "fixed(6)"}, alone.frame()
assert alone.frame()[0]["refused"] == "it has no weights", alone.frame()[0]
swept = lathe.sweep(path, {"x": x}, labels.tolist(), formats="fixed(3..5)", part="xc7a35t")
rows = swept.frame()
assert [r["format"] for r in rows] == ["fixed(3)", "fixed(4)", "fixed(5)"] and rows[1]["cost_lut"] > 1000, rows
for row in rows:
    right = (lathe.run(path, x, calibrate=x, bits=int(row["format"][6])).argmax(1) == labels).mean()
    assert abs(right - row["accuracy"]) < 1e-9, (right, row)
assert "fixed(4)" in str(swept) and "cost_lut" not in lathe.sweep(path, x, formats="fixed(4)", no_cost=True).frame()[0]

# The best plan compiles, as long as its result is there or where it was asked for.
found = lathe.auto(path, x, labels, formats="fixed(4..5)", accuracy=-50, part="xc7a35t")
best = found.candidates[found.best]
design = lathe.compile(path, plan=found.plan)
assert best.met and design.facts.units[0].format.startswith(best.formats[0][:-1]), (best, design.facts.units[0])
with tempfile.TemporaryDirectory() as folder:
    kept = lathe.auto(path, x, formats="fixed(6)", sqnr=1, output=os.path.join(folder, "plans"))
    assert kept.plan == os.path.join(folder, "plans", "best.toml") and os.path.exists(kept.plan)
gone = found.plan
del found
assert not os.path.exists(gone)
e = refused("keeps SQNR 200.0 dB", lambda: lathe.auto(path, x, formats="fixed(4)", sqnr=200), lathe.Error)
assert e.code == "L0422", e

# A study of formats, which goes on where it is kept.
space = {"study": {"objectives": ["accuracy max", "lut min"]}, "quantize": [{"format": ["fixed(3..6)"]}]}
with tempfile.TemporaryDirectory() as folder:
    log = os.path.join(folder, "run.log")
    first = lathe.search(path, space, x, eval=(x, labels), trials=3, storage=log)
    more = lathe.search(path, space, x, eval=(x, labels), trials=6, storage=log)
    assert {t["trial"] for t in first.best} <= set(range(3)) and more.best[0]["values"]["lut"] > 500, (first, more)
    trial = more.best[0]
    right = (lathe.run(path, x, calibrate=x, plan=trial["plan"]).argmax(1) == labels).mean()
    assert abs(right - trial["values"]["accuracy"]) < 1e-9, (right, trial)
space["quantize"][0]["name"] = "no"
refused("unknown layer", lambda: lathe.search(path, space, x, labels), lathe.Error)

# Metrics, by name and as functions, on the samples that the search sees.
with_top = lathe.sweep(path, x, labels, metric="top5", formats="fixed(4)", no_cost=True)
assert with_top.metric == "top5" and with_top.frame()[0]["score"] == 1, with_top
wanted = lathe.run(path, x)
measured = lathe.sweep(path, x, wanted, metric="rmse", formats="fixed(4),fixed(6)", no_cost=True)
own = lathe.sweep(path, x, wanted, metric=lambda y, want: -numpy.sqrt(numpy.mean((y - want) ** 2)),
                  formats="fixed(4),fixed(6)", no_cost=True)
assert own.metric == "metric" and measured.score_float < 1e-6
for one, other in zip(measured.frame(), own.frame()):
    assert abs(one["score"] + other["score"]) < 1e-6 < one["score"], (one, other)
seen = []


def right(y, want):
    seen.append(len(y))
    assert len(y) == len(want["class"])
    return (y.argmax(1) == want["class"]).mean()


found = lathe.auto(path, x, {"class": labels}, metric=right, keep=0.5, formats="fixed(3..4)", samples=40, hold_out=25)
named = lathe.auto(path, x, labels, accuracy=0.5, formats="fixed(3..4)", samples=40, hold_out=25)
assert found.metric == "right" and found.goal.score == 0.5 and set(seen) == {30, 10}, (found.goal, seen)
assert [c.score for c in found.candidates] == [c.accuracy for c in named.candidates]
assert found.candidates[found.best].formats == named.candidates[named.best].formats
refused("", lambda: lathe.sweep(path, x, metric=lambda y, want: 1 / 0, formats="fixed(4)"), ZeroDivisionError)
refused("returned nan", lambda: lathe.sweep(path, x, metric=lambda y, want: numpy.nan, formats="fixed(4)"), ValueError)
refused("did you mean rmse?", lambda: lathe.sweep(path, x, labels, metric="rsme"))
refused("labels of 60 samples for 50", lambda: lathe.sweep(path, x[:50], labels, metric="top5"), lathe.Error)

# A quantized model is a model; remedies are arguments.
small = lathe.quantize(path, x, labels, bits=3)
assert (lathe.run(small, x) == lathe.run(path, x, calibration=x, bits=3)).all()
assert small.frame()[0]["name"] == "x" and small.outputs[0].sqnr_db < 20
remedy = small.remedies.helping[0]
mended = lathe.quantize(path, x, labels, bits=3, **remedy.arguments)
assert mended.accuracy.quantized == remedy.point.accuracy > small.accuracy.quantized, (remedy, mended.accuracy)
assert "calibrate" in lathe.plan(path, calibrate=x, bits=4).plan
never = [lathe.run(path, x, calibrate=x, bits=4, equalize=on) for on in (True, False)]
assert (never[0] != never[1]).any(), "False is an answer too"

# So is a trained one, as arrays, mappings and paths; accuracy is that of the graph that ships.
curve = lathe.train_sweep("prune", path, (x, labels), (x, labels), sparsities=["0.5", "2:4"], methods=["l1"], seeds=2,
                          epochs=1, batch=10)
assert [p["label"] for p in curve.points] == ["l1 0.5", "l1 2:4"], curve
assert len(curve.frame()) == 2 and curve.points[0]["after"]["mean"] >= 0 and curve.points[0]["lut"] > 0
trained = lathe.train(path, (x, labels), eval=({"x": x}, labels.tolist()), bits=3, epochs=4, batch=10, lr=0.01)
assert trained.steps == 24 and trained.loss.last < trained.loss.first, trained
assert "trained" in str(trained) and os.path.exists(os.path.join(trained.log, "train.jsonl")), str(trained)
right_share = (trained.run(x).argmax(1) == labels).mean()
assert abs(trained.accuracy.quantized - right_share) < 1e-9 and trained.accuracy.before < right_share, trained
hardware = trained.compile(vectors=2)
assert os.path.exists(os.path.join(hardware.folder, "design.json")), hardware
assert lathe.inspect(trained).frame("nodes")[0]["name"] == "x"
with tempfile.TemporaryDirectory() as folder:
    files = os.path.join(folder, "x.npz"), os.path.join(folder, "y.npy")
    numpy.savez(files[0], x=x)
    numpy.save(files[1], labels)
    floats = lathe.train(path, files, plan={"train": {"method": "sft", "epochs": 1}},
                         output=os.path.join(folder, "f.lathe"))
    assert floats.method == "sft" and os.path.exists(os.path.join(folder, "f.lathe")) and floats.log.startswith(folder)
e = refused("59 samples", lambda: lathe.train(path, (x[:59], labels)), lathe.Error)
assert e.code == "L1005", e
with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "tokenizer.json"), "w") as file:
        file.write('{"model": {"type": "BPE", "vocab": {"[PAD]": 0, "a": 1, "b": 2}, "merges": []}}')
    with open(os.path.join(folder, "text.lathe"), "w") as file:
        file.write("""lathe 1
graph %m float(%ids) {
  %ids = input : 1x2 int(64,over=wrap)
  %table = const {data = f32 [0.1, -0.2, 0.3]} : 3x1 fp32
  %e = gather(%table, %ids) {axis = 0} : 1x2x1 fp32
  %y = reshape(%e) {shape = [1, 2]} : 1x2 fp32
  return y = %y
}
""")
    texts = ["ab", 'a"b', "\u00e9"], [1, 0, 1]
    words = lathe.train(file.name, texts, eval=texts, method="sft", epochs=1, batch=3)
    assert words.steps == 1 and 0 <= words.accuracy.float <= 1, words
refused("data is a pair", lambda: lathe.train(path, x), TypeError)
refused("unexpected argument epoch\n", lambda: lathe.train(path, (x, labels), epoch=2))

# The others.
assert lathe.diff(path, path).same and not lathe.diff(path, small).same
assert lathe.inspect(path).frame("nodes")[0]["name"] == "x"
kernels = lathe.emit_cuda(path, samples=4)
assert os.path.exists(os.path.join(kernels.folder, "kernels.cu")) and kernels.frame()[0]["kernel"], kernels
assert lathe.list("targets").frame()[0]["part"] and lathe.doctor().rows[0].name
codes = lathe.convert([1, 0.5, -0.25], "fixed(8,4)")
assert codes["codes"].tolist() == [16, 8, -4], codes
assert lathe.convert({"codes": codes["codes"]}, "fixed(8,4)", decode=True).tolist() == [1, 0.5, -0.25]
assert lathe.dot(numpy.eye(2, 4), [1, 2, 3, 4], a="fixed(8,4)", b="fixed(8,2)").tolist() == [1, 2]
refused("L0776", lambda: lathe.route(example), lathe.Error)
refused("L0760", lambda: lathe.area(design), lathe.Error)  # there is no Yosys
with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    numpy.savez(file, x=numpy.zeros((1, 16), "float32"))
    file.flush()
    lathe.inspect(path, example=file.name)
refused("/none", lambda: lathe.inspect(path, example="/none"), lathe.Error)

# Wrong arguments are refused in the words of Python.
refused("unexpected argument formts\n  hint: did you mean formats?", lambda: lathe.sweep(path, x, formts="fixed(3)"))
refused("accuracy needs labels; without them sqnr", lambda: lathe.auto(path, x, accuracy=0.9))
refused("unexpected argument no_costs\n  hint: did you mean no_cost?", lambda: lathe.sweep(path, x, no_costs=True))
refused("two names of one argument", lambda: lathe.quantize(path, x, calibration=x), TypeError)
assert issubclass(lathe.ArgumentError, TypeError) and issubclass(lathe.ArgumentError, lathe.Error)
refused("no table 'point'; there are: points", lambda: swept.frame("point"), KeyError)

# Tables are data frames where there is pandas, and HTML in notebooks.
sys.modules["pandas"] = types.SimpleNamespace(DataFrame=lambda rows: ("frame", rows))
kind, rows = swept.frame()
assert kind == "frame" and rows[0]["format"] == "fixed(3)" and set(rows[0]) == set(rows[-1])
assert small.frame("remedies.helping")[1][0]["flag"] == remedy.flag
page = swept._repr_html_()
assert "<caption>points</caption>" in page and "<td>fixed(4)</td>" in page and "None" not in page, page
assert "&lt;b&gt;" in lathe.Result(name="<b>")._repr_html_()
assert "<caption>units</caption>" in design._repr_html_()
