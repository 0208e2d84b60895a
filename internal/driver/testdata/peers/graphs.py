# SPDX-License-Identifier: Apache-2.0
"""Draws small quantized graphs and computes them with the tool that their kind comes from.

    graphs.py qonnx|qdq FIRST COUNT FOLDER

writes, for each seed, SEED.onnx (batch 1), SEED.txt (its nodes) and SEED.npz: input x of several samples, output y of
qonnx's executor or of ONNX Runtime without graph optimizations, step (of y), exact and near. A graph is exact if its
scales are powers of two and its sums fit into float32: every tool must give equal codes. Of others, near says of each
sample whether a value in front of a rounding lies so near to its border that float32 decides on which side.
"""
import os
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

import affine
import arbitrary

SAMPLES = 12
# So near to a border, relative to the largest code, float32 sums in another order may fall on its other side.
NEAR = 2.0**-19


def session(model):
    o = onnxruntime.SessionOptions()
    o.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), o, providers=["CPUExecutionProvider"])


def runtime(model, x, wanted):
    """The values that are wanted, by ONNX Runtime: all of them become outputs."""
    m = onnx.shape_inference.infer_shapes(model)
    known = {v.name: v for v in m.graph.value_info}
    have = {o.name for o in m.graph.output} | {"x"}
    m.graph.output.extend(known[w] for w in dict.fromkeys(wanted) if w not in have)
    names = [o.name for o in m.graph.output]
    return dict(zip(names, session(m).run(names, {"x": x}))) | {"x": x}


def executor(model, x, _):
    """All values, by the executor of qonnx."""
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.core.onnx_exec import execute_onnx
    from qonnx.transformation.infer_shapes import InferShapes

    return execute_onnx(ModelWrapper(model).transform(InferShapes()), {"x": x}, return_full_exec_context=True)


def borders(values, roundings):
    """Of each sample: whether a value lies near to a border of one of the roundings."""
    near = np.zeros(SAMPLES, bool)
    for r in roundings:
        v = values[r.of].astype(np.float64) / r.scale + r.zero
        top = max(1.0, np.abs(v).max())
        inside = (v > r.low - 1) & (v < r.high + 1)
        v = v / r.divisor
        off = np.abs(v - 0.5 - np.round(v - 0.5)) if r.half else np.abs(v - np.round(v))
        hit = inside & (off < NEAR * top + r.slack)
        near |= hit.reshape(SAMPLES, -1).any(axis=1)
    return near


def write(kind, seed, folder):
    draw = {"qonnx": arbitrary.draw, "qdq": affine.draw}[kind]
    one, many = draw(seed, 1), draw(seed, SAMPLES)
    model = many.model()
    rng = np.random.default_rng(seed + 1)
    x = (rng.standard_normal(many.shapes["x"]) * 1.5).astype(np.float32)
    if many.exact:
        x = (np.round(x * 64) / 64).astype(np.float32)
    values = {"qonnx": executor, "qdq": runtime}[kind](model, x, [r.of for r in many.roundings])
    y = values[many.out]
    stem = os.path.join(folder, f"{seed:05d}")
    onnx.save(one.model(), stem + ".onnx")
    with open(stem + ".txt", "w") as f:
        f.write(" ".join(n.op_type for n in one.nodes))
    near = borders(values, many.roundings)
    # y keeps its name: as x, its leading axis counts samples.
    np.savez(stem + ".npz", x=x, y=y.astype(np.float32), step=np.float64(many.step), exact=np.int64(many.exact),
             near=near.astype(np.int64))


def main():
    kind, first, count, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    os.makedirs(folder, exist_ok=True)
    onnxruntime.set_default_logger_severity(4)
    for seed in range(first, first + count):
        try:
            write(kind, seed, folder)
        except Exception as e:
            raise RuntimeError(f"{kind} graph of seed {seed}") from e


if __name__ == "__main__":
    main()
