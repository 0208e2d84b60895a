# SPDX-License-Identifier: Apache-2.0
"""make.py: writes the data sets of this folder from those that scikit-learn 1.9.1 bundles, and a network for each."""
import pathlib

import numpy
from sklearn import datasets, model_selection

NETWORK = """\
// SPDX-License-Identifier: Apache-2.0
// A perceptron {sizes} with random weights, still to be trained.
module @{name} {{
  func.func public @main(%x: {x}) -> {y} {{
    %w1 = stablehlo.constant dense<"0x{w1}"> : {m1}
    %b1 = stablehlo.constant dense<"0x{b1}"> : {h}
    %w2 = stablehlo.constant dense<"0x{w2}"> : {m2}
    %b2 = stablehlo.constant dense<"0x{b2}"> : {y}
    %zero = stablehlo.constant dense<0.0> : {h}
    %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : ({x}, {m1}) -> {h}
    %1 = stablehlo.add %0, %b1 : {h}
    %2 = stablehlo.maximum %1, %zero : {h}
    %3 = stablehlo.dot_general %2, %w2, contracting_dims = [1] x [0] : ({h}, {m2}) -> {y}
    %4 = stablehlo.add %3, %b2 : {y}
    return %4 : {y}
  }}
}}
"""
SETS = {"iris": datasets.load_iris, "wine": datasets.load_wine, "cancer": datasets.load_breast_cancer}


def network(name, inputs, classes, hidden=32):
    """The network as StableHLO; weights and biases are uniform, as a linear layer of PyTorch begins."""
    random = numpy.random.default_rng(0)

    def uniform(fan, *shape):
        return random.uniform(-fan**-0.5, fan**-0.5, shape).astype("<f4").tobytes().hex()

    def tensor(*shape):
        return "tensor<" + "x".join(map(str, shape)) + "xf32>"

    return NETWORK.format(
        sizes=f"{inputs}-{hidden}-{classes}", name=name, x=tensor(1, inputs), h=tensor(1, hidden), y=tensor(1, classes),
        m1=tensor(inputs, hidden), m2=tensor(hidden, classes), w1=uniform(inputs, inputs, hidden),
        b1=uniform(inputs, hidden), w2=uniform(hidden, hidden, classes), b2=uniform(hidden, classes))


def main():
    here = pathlib.Path(__file__).parent
    for name, load in SETS.items():
        x, y = load(return_X_y=True)
        x, test, y, classes = model_selection.train_test_split(x, y, test_size=0.25, stratify=y, random_state=0)
        mean, spread = x.mean(0), x.std(0)
        folder = here / name
        folder.mkdir(exist_ok=True)
        numpy.savez_compressed(folder / "train.npz", x=((x - mean) / spread).astype("float32"))
        numpy.savez_compressed(folder / "inputs.npz", x=((test - mean) / spread).astype("float32"))
        numpy.save(folder / "train_labels.npy", y.astype("int8"))
        numpy.save(folder / "labels.npy", classes.astype("int8"))
        (folder / "network.mlir").write_text(network(name, x.shape[1], y.max() + 1))


main()
