# SPDX-License-Identifier: Apache-2.0
"""Writes losses.json: what JAX makes of twenty steps of training, which TestCurves compares with.

Run from the folder of the repository: python train/testdata/losses.py (needs jax, numpy, onnx). The order of samples is
that of the package; models, losses and the optimizer are written here anew.
"""
import json

import jax
import jax.numpy as jnp
import numpy as np
import onnx
from onnx import numpy_helper

STEPS, BATCH, RATE, DECAY = 20, 32, 1e-3, 0.01
M64 = (1 << 64) - 1


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & M64
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & M64
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & M64
    return x ^ x >> 31


def order(seed, epoch, n):
    keys = [mix((mix((mix(seed) + epoch) & M64) + i) & M64) for i in range(n)]
    return sorted(range(n), key=lambda i: (keys[i], i))


def weights(path):
    return {t.name: jnp.asarray(numpy_helper.to_array(t)) for t in onnx.load(path).graph.initializer
            if numpy_helper.to_array(t).dtype == np.float32}


def mlp(w, x):
    for i in "0", "2", "4":
        x = x @ w[i + ".weight"].T + w[i + ".bias"]
        if i != "4":
            x = jnp.maximum(x, 0)
    return x


def conv(x, k, b):
    y = jax.lax.conv_general_dilated(x, k, (1, 1), ((1, 1), (1, 1)), dimension_numbers=("NCHW", "OIHW", "NCHW"))
    return y + b[None, :, None, None]


def norm(w, name, x):
    """Batch normalization by running statistics, which are not trained."""
    along = lambda v: v[None, :, None, None]
    scale = w[name + ".weight"] / jnp.sqrt(w[name + ".running_var"] + 1e-5)
    return (x - along(w[name + ".running_mean"])) * along(scale) + along(w[name + ".bias"])


def cnn(w, x):
    x = jnp.maximum(norm(w, "bn1", conv(x, w["conv1.weight"], w["conv1.bias"])), 0)
    x = x.reshape(x.shape[0], x.shape[1], x.shape[2] // 2, 2, x.shape[3] // 2, 2).max((3, 5))
    x = jnp.maximum(norm(w, "bn2", conv(x, w["conv2.weight"], w["conv2.bias"])), 0)
    x = x.reshape(x.shape[0], -1)
    return x @ w["fc.weight"].T + w["fc.bias"]


def curve(model, path, data):
    w = weights(path + "/model.onnx")
    x = jnp.asarray(np.load(data + "/train.npz")["x"])
    y = np.load(data + "/train_labels.npy").astype(np.int32)

    def loss(w, x, y):
        z = jax.nn.log_softmax(model(w, x))
        return -jnp.mean(jnp.take_along_axis(z, y[:, None], 1))

    m = {k: jnp.zeros_like(v) for k, v in w.items()}
    v = dict(m)
    at, losses = order(1, 0, len(y)), []
    step = jax.jit(jax.value_and_grad(loss))
    for s in range(STEPS):
        rows = np.array(at[s * BATCH:(s + 1) * BATCH])
        value, g = step(w, x[rows], y[rows])
        losses.append(float(value))
        for k in w:
            if "running" in k:
                continue
            m[k] = 0.9 * m[k] + 0.1 * g[k]
            v[k] = 0.999 * v[k] + 0.001 * g[k] ** 2
            mean, square = m[k] / (1 - 0.9 ** (s + 1)), v[k] / (1 - 0.999 ** (s + 1))
            decay = DECAY if w[k].ndim > 1 else 0
            w[k] = w[k] - RATE * (mean / (jnp.sqrt(square) + 1e-8) + decay * w[k])
    return losses


if __name__ == "__main__":
    with open("train/testdata/losses.json", "w") as f:
        json.dump({"digits-mlp": curve(mlp, "examples/digits-mlp", "examples/digits-mlp"),
                   "digits-cnn": curve(cnn, "examples/digits-cnn", "examples/digits-cnn")}, f, indent=1)
        f.write("\n")
