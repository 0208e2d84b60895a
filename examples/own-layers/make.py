# SPDX-License-Identifier: Apache-2.0
"""Writes net.onnx, whose operators of the domain com.example no tool knows, and inputs for it."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

r = np.random.default_rng(7)


def weight(name, *shape):
    return numpy_helper.from_array((r.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32), name)


def own(op, x, y, **attributes):
    return helper.make_node(op, x, [y], name=y, domain="com.example", **attributes)


nodes = [
    helper.make_node("Gemm", ["x", "w1", "b1"], ["fc1"], name="fc1", transB=1),
    own("Squareplus", ["fc1"], "squareplus", b=0.5),
    own("Gate", ["squareplus", "w2"], "gate"),
    own("PairMax", ["gate"], "pairs"),
    own("Measured", ["pairs"], "measured"),
    helper.make_node("Gemm", ["measured", "w3", "b3"], ["y"], name="fc3", transB=1),
]
graph = helper.make_graph(
    nodes, "net",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 8])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4])],
    [weight("w1", 16, 8), weight("b1", 16), weight("w2", 16), weight("w3", 4, 8), weight("b3", 4)])
opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.example", 1)]
onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), "net.onnx")
np.savez("inputs.npz", x=r.uniform(-1, 1, size=(64, 8)).astype(np.float32))
with open("measured.csv", "w") as f:
    f.write("x,y\n")
    for x in np.linspace(-1, 2, 25):
        f.write(f"{x:g},{np.tanh(1.5 * x) + 0.1 * x:.5f}\n")
