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
    """All float arrays of a model; its scalars are no parameters."""
    return {t.name: jnp.asarray(numpy_helper.to_array(t)) for t in onnx.load(path).graph.initializer
            if numpy_helper.to_array(t).dtype == np.float32 and t.dims}


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


def norms_of_batches(kept):
    """Batch normalization by the statistics of the batch, which it keeps, the variance as samples estimate it."""
    def norm(w, name, x):
        along = lambda v: v[None, :, None, None]
        mean, var, n = x.mean((0, 2, 3)), x.var((0, 2, 3)), x.shape[0] * x.shape[2] * x.shape[3]
        kept[name + ".running_mean"], kept[name + ".running_var"] = mean, var * (n / (n - 1))
        scale = w[name + ".weight"] / jnp.sqrt(var + 1e-5)
        return (x - along(mean)) * along(scale) + along(w[name + ".bias"])
    return norm


def cnn_of_batches(w, x):
    kept = {}
    return cnn(w, x, norms_of_batches(kept)), kept


def cnn(w, x, norm=norm):
    x = jnp.maximum(norm(w, "bn1", conv(x, w["conv1.weight"], w["conv1.bias"])), 0)
    x = x.reshape(x.shape[0], x.shape[1], x.shape[2] // 2, 2, x.shape[3] // 2, 2).max((3, 5))
    x = jnp.maximum(norm(w, "bn2", conv(x, w["conv2.weight"], w["conv2.bias"])), 0)
    x = x.reshape(x.shape[0], -1)
    return x @ w["fc.weight"].T + w["fc.bias"]


def layer_norm(w, name, x):
    x = x - x.mean(-1, keepdims=True)
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w[name + ".weight"] + w[name + ".bias"]


def vit(w, x, heads=2):
    """The transformer; its matrices of products have the names that the exporter gave them."""
    x = jax.lax.conv_general_dilated(x, w["patch.weight"], (2, 2), "VALID", dimension_numbers=("NCHW", "OIHW", "NCHW"))
    x = (x + w["patch.bias"][None, :, None, None]).reshape(x.shape[0], x.shape[1], -1).transpose(0, 2, 1)
    first = jnp.broadcast_to(w["expand"], (x.shape[0], 1, x.shape[2]))
    x = jnp.concatenate([first, x], 1) + w["pos"]
    n, tokens, width = x.shape
    for layer, (qkv, proj, up, down) in enumerate([("val_12", "val_40", "val_44", "val_53"),
                                                   ("val_57", "val_83", "val_87", "val_96")]):
        at = f"layers.{layer}."
        y = layer_norm(w, at + "ln1", x) @ w[qkv] + w[at + "qkv.bias"]
        q, k, v = y.reshape(n, tokens, 3, heads, width // heads).transpose(2, 0, 3, 1, 4)
        scores = q @ k.transpose(0, 1, 3, 2) / jnp.sqrt(jnp.float32(width // heads))
        y = (jax.nn.softmax(scores, -1) @ v).transpose(0, 2, 1, 3).reshape(n, tokens, width)
        x = x + y @ w[proj] + w[at + "proj.bias"]
        y = layer_norm(w, at + "ln2", x) @ w[up] + w[at + "up.bias"]
        x = x + jax.nn.gelu(y, approximate=False) @ w[down] + w[at + "down.bias"]
    return layer_norm(w, "norm", x)[:, 0] @ w["head.weight"].T + w["head.bias"]


def curve(model, path, data, steps=STEPS, statistics=None):
    w = weights(path + "/model.onnx")
    x = jnp.asarray(np.load(data + "/train.npz")["x"])
    y = np.load(data + "/train_labels.npy").astype(np.int32)

    def loss(w, x, y):
        out = model(w, x)
        out, kept = out if isinstance(out, tuple) else (out, {})
        z = jax.nn.log_softmax(out)
        return -jnp.mean(jnp.take_along_axis(z, y[:, None], 1)), kept

    m = {k: jnp.zeros_like(v) for k, v in w.items()}
    v = dict(m)
    at, losses = order(1, 0, len(y)), []
    step = jax.jit(jax.value_and_grad(loss, has_aux=True))
    for s in range(steps):
        rows = np.array(at[s * BATCH:(s + 1) * BATCH])
        (value, kept), g = step(w, x[rows], y[rows])
        losses.append(float(value))
        for k in w:
            if "running" in k:
                if kept:
                    w[k] = w[k] + 0.1 * (kept[k] - w[k])
                continue
            if statistics is not None and k in ("conv1.bias", "conv2.bias"):
                continue  # its gradient is rounding alone
            m[k] = 0.9 * m[k] + 0.1 * g[k]
            v[k] = 0.999 * v[k] + 0.001 * g[k] ** 2
            mean, square = m[k] / (1 - 0.9 ** (s + 1)), v[k] / (1 - 0.999 ** (s + 1))
            decay = DECAY if w[k].ndim > 1 else 0
            w[k] = w[k] - RATE * (mean / (jnp.sqrt(square) + 1e-8) + decay * w[k])
    if statistics is not None:
        for k in "bn1.running_mean", "bn1.running_var", "bn2.running_mean", "bn2.running_var":
            statistics += [float(v) for v in w[k]]
    return losses


if __name__ == "__main__":
    statistics = []
    trained = curve(cnn_of_batches, "examples/digits-cnn", "examples/digits-cnn", 42, statistics)
    with open("train/testdata/losses.json", "w") as f:
        json.dump({"digits-mlp": curve(mlp, "examples/digits-mlp", "examples/digits-mlp"),
                   "digits-cnn": curve(cnn, "examples/digits-cnn", "examples/digits-cnn"),
                   "digits-vit": curve(vit, "examples/digits-vit", "examples/digits-cnn"),
                   "batch norms": trained, "statistics": statistics}, f, indent=1)
        f.write("\n")
