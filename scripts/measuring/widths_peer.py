# SPDX-License-Identifier: Apache-2.0
"""Trains a network of an example by HGQ2 at one price, has alkaid print it, and says what it is worth.

usage: widths_peer.py EXAMPLE BETA SEED EPOCHS OUT WIDTH...

EXAMPLE is a folder with train.npz, train_labels.npy, inputs.npz and labels.npy; WIDTH... are the outputs of the layers.
OUT gets the Verilog (OUT/src, top "model"); "" for none. Standard output gets one line of JSON.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

os.environ["KERAS_BACKEND"] = "jax"

import keras  # noqa: E402
import numpy  # noqa: E402
from hgq.config import LayerConfigScope, QuantizerConfigScope  # noqa: E402
from hgq.layers import QDense  # noqa: E402
from hgq.utils import trace_minmax  # noqa: E402
from hgq.utils.sugar import FreeEBOPs  # noqa: E402

BATCH, RATE, LEVELS = 32, 3e-3, 5


def network(inputs, widths, beta):
    """As HGQ2's own examples: weights and data have widths of their own, data wrap."""
    with (QuantizerConfigScope(default_q_type="kbi", overflow_mode="SAT_SYM"),
          QuantizerConfigScope(default_q_type="kif", place="datalane", overflow_mode="WRAP"),
          LayerConfigScope(enable_ebops=True, beta0=beta)):
        layers = [QDense(n, activation="relu") for n in widths[:-1]] + [QDense(widths[-1])]
        return keras.Sequential([keras.layers.Input((inputs,)), *layers])


def main():
    example, beta, seed, epochs, out = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    widths = [int(w) for w in sys.argv[6:]]

    def read(name):
        data = numpy.load(os.path.join(example, name))
        return data if name.endswith(".npy") else data[data.files[0]].astype("float32")

    x, y, other, labels = map(read, ("train.npz", "train_labels.npy", "inputs.npz", "labels.npy"))
    keras.utils.set_random_seed(seed)
    model = network(x.shape[1], widths, beta)
    rate = keras.optimizers.schedules.CosineDecay(RATE, epochs * (len(x) // BATCH))
    model.compile(keras.optimizers.Adam(rate), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    start = time.time()
    model.fit(x, y.astype("int64"), batch_size=BATCH, epochs=epochs, verbose=0, callbacks=[FreeEBOPs()])
    seconds = time.time() - start
    trace_minmax(model, x)
    right = float((model.predict(other, verbose=0).argmax(-1) == labels).mean())
    if out:
        printed(model, out)
    print(json.dumps({"accuracy": right, "seconds": seconds}))


def printed(model, out):
    """Has alkaid print a model, and demands that it finds no mismatch."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        model.save(path)
        alkaid = os.path.join(os.path.dirname(sys.executable), "alkaid")
        said = subprocess.run([alkaid, "convert", path, out, "--flavor", "verilog", "--latency-cutoff", str(LEVELS)],
                              check=True, capture_output=True, text=True)
    wrong = re.search(r"\[(\d+)/\d+\] mismatches", said.stdout + said.stderr)
    if wrong is None or wrong.group(1) != "0":
        sys.exit("alkaid does not say that its circuit is the model: " + said.stdout + said.stderr)


main()
