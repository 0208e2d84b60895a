# SPDX-License-Identifier: Apache-2.0
"""A graph that grows: nodes, constants, shapes, and where it rounds. What both kinds of graphs draw from."""
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto, helper, numpy_helper


@dataclass
class Rounding:
    of: str  # the value in front
    scale: object
    zero: object
    low: float
    high: float
    half: bool  # borders lie between whole numbers, else at them
    divisor: float = 1.0
    slack: float = 0.0  # by which the documented error of a unit moves the value


@dataclass
class Value:
    name: str
    shape: tuple
    mag: float  # about the spread of its numbers
    scale: object = None  # of its codes; None if it has none
    bits: int = 0
    signed: bool = True
    zero: int = 0
    low: int = 0
    high: int = 0

    @property
    def channels(self):
        return self.shape[1] if len(self.shape) == 4 else self.shape[-1]


class Net:
    gemms = 0.5  # of the products of matrices, how many are one node with their bias

    def __init__(self, seed, n, opset, domains=()):
        self.rng = np.random.default_rng(seed)
        self.n, self.nodes, self.consts, self.roundings = n, [], [], []
        self.shapes, self.count, self.opset, self.domains = {}, 0, opset, domains
        self.exact = self.chance(0.5)
        self.step, self.out = 1.0, ""

    def chance(self, p):
        return bool(self.rng.random() < p)

    def pick(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def whole(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def normal(self, *shape):
        return self.rng.standard_normal(shape)

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def const(self, array, stem="c"):
        name = self.name(stem)
        self.consts.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def f32(self, array, stem="c"):
        return self.const(np.asarray(array, np.float32), stem)

    def node(self, op, inputs, domain="", **attrs):
        out = self.name(op.lower())
        attrs = {k: v for k, v in attrs.items() if v is not None}
        self.nodes.append(helper.make_node(op, inputs, [out], out, domain=domain, **attrs))
        return out

    def input(self):
        n = self.n
        shape = self.pick([(n, self.whole(1, 4), self.whole(4, 8), self.whole(4, 8)), (n, self.whole(2, 12)),
                           (n, self.whole(1, 4), self.whole(5, 7), self.whole(5, 7))])
        self.shapes["x"] = shape
        return Value("x", shape, 1.5)

    def near_scale(self, ideal):
        """A scale near to the ideal one: a power of two in exact graphs."""
        power = 2.0 ** np.clip(np.round(np.log2(ideal)), -8, 6)
        return np.float32(power if self.exact else ideal * self.rng.uniform(0.8, 1.25))

    def finish(self, v):
        self.out = "y"
        self.nodes[-1].output[0] = "y"
        self.shapes["y"] = v.shape
        self.step = float(np.min(v.scale)) if v.scale is not None else 0.0
        return self

    def model(self):
        value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shapes[name])
        graph = helper.make_graph(self.nodes, "g", [value("x")], [value("y")], self.consts)
        opsets = [helper.make_opsetid("", self.opset)] + [helper.make_opsetid(d, v) for d, v in self.domains]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    # Steps that both kinds have: each takes a value and gives one without codes.

    def coded(self, v):
        return v if v.scale is not None else self.quant(v)

    def conv(self, v):
        if len(v.shape) != 4:
            return self.product(v)
        v = self.coded(v)
        shape, attrs, out = self.window(v)
        w, scale = self.weights(shape, 0, 1 / np.sqrt(np.prod(shape[1:])))
        b = self.bias(v, scale, shape[0])
        return Value(self.node("Conv", [v.name, w] + ([b] if b else []), **attrs), out, v.mag)

    def product(self, v):
        if len(v.shape) == 4 and self.chance(0.7):
            v = self.flatten(v)
        v = self.coded(v)
        k, m = v.shape[-1], self.whole(1, 8)
        if len(v.shape) == 2 and self.chance(self.gemms):
            turned = self.chance(0.5)
            w, scale = self.weights((m, k) if turned else (k, m), 0 if turned else 1, 1 / np.sqrt(k))
            b = self.bias(v, scale, m)
            return Value(self.node("Gemm", [v.name, w] + ([b] if b else []), transB=int(turned)), (self.n, m), v.mag)
        w, scale = self.weights((k, m), 1, 1 / np.sqrt(k))
        out = self.node("MatMul", [v.name, w])
        b = self.bias(v, scale, m)
        return Value(self.node("Add", self.added(out, b)) if b else out, v.shape[:-1] + (m,), v.mag)

    def added(self, out, b):
        """The operands of the sum of a product and its bias."""
        return [out, b]

    def pool(self, v):
        size, stride = self.whole(1, 3), self.whole(1, 2)
        pad = self.whole(0, min(1, size - 1))
        kind = self.pick(["MaxPool", "AveragePool", "GlobalAveragePool"])
        if kind == "GlobalAveragePool" or (kind == "AveragePool" and self.exact):
            if self.exact and v.shape[2] * v.shape[3] not in (4, 16, 64):
                size, stride, pad, kind = 2, 2, 0, "AveragePool"
            elif kind == "GlobalAveragePool":
                out = self.node(kind, [v.name])
                return Value(out, v.shape[:2] + (1, 1), v.mag / 2)
            else:
                size, pad = 2, 0
        h, w = ((d + 2 * pad - size) // stride + 1 for d in v.shape[2:])
        if h < 1 or w < 1:
            return self.relu(v)
        include = self.whole(0, 1) if kind == "AveragePool" else None
        out = self.node(kind, [v.name], kernel_shape=[size, size], strides=[stride, stride], pads=[pad] * 4,
                        count_include_pad=include)
        mag = v.mag if kind == "MaxPool" else v.mag / size
        return Value(out, v.shape[:2] + (h, w), mag, v.scale if kind == "MaxPool" else None)

    def relu(self, v):
        return Value(self.node("Relu", [v.name]), v.shape, v.mag)

    def clip(self, v):
        low, high = -self.whole(0, 3), self.whole(1, 6)
        inputs = [v.name, self.f32(low), self.f32(high)]
        if self.chance(0.2):
            inputs[1] = ""
        return Value(self.node("Clip", inputs), v.shape, min(v.mag, 3.0))

    def curve(self, v):
        if self.exact:
            return self.relu(v)
        v = self.coded(v)  # else hardware rounds between, as the model does not say to what
        op = self.pick(["Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Elu"])
        mag = v.mag if op in ("LeakyRelu", "Elu") else 0.6
        return Value(self.node(op, [v.name]), v.shape, mag)

    def flatten(self, v):
        flat = (self.n, int(np.prod(v.shape[1:])))
        if self.chance(0.5):
            return Value(self.node("Flatten", [v.name], axis=1), flat, v.mag)
        return Value(self.node("Reshape", [v.name, self.const(np.array([0, -1], np.int64))]), flat, v.mag)

    def transpose(self, v):
        perm = self.pick([[0, 1, 3, 2], [0, 2, 1, 3], [0, 3, 1, 2], [0, 2, 3, 1]]) if len(v.shape) == 4 else [0, 1]
        return Value(self.node("Transpose", [v.name], perm=perm), tuple(v.shape[p] for p in perm), v.mag)

    def pad(self, v):
        if len(v.shape) != 4:
            return self.relu(v)
        a, b, c, d = (self.whole(0, 1) for _ in range(4))
        inputs = [v.name, self.const(np.array([0, 0, a, b, 0, 0, c, d], np.int64))]
        if self.chance(0.5):
            inputs.append(self.f32(0))
        shape = v.shape[:2] + (v.shape[2] + a + c, v.shape[3] + b + d)
        return Value(self.node("Pad", inputs), shape, v.mag)

    def norm(self, v):
        if len(v.shape) != 4:
            return self.relu(v)
        c = v.channels
        scale, shift, mean = self.rng.uniform(0.5, 1.5, c), self.normal(c) * 0.3, self.normal(c) * 0.3
        var, eps = self.rng.uniform(0.5, 2, c), 1e-5
        if self.exact:  # with eps 0 and these, a product with powers of two
            scale, var, eps = 2.0 ** self.rng.integers(-1, 2, c), np.ones(c), 0.0
            shift, mean = (np.round(a * 8) / 8 for a in (shift, mean))
        inputs = [v.name] + [self.f32(a) for a in (scale, shift, mean, var)]
        return Value(self.node("BatchNormalization", inputs, epsilon=eps), v.shape, v.mag)

    def window(self, v):
        """Kernel, attributes and shape of a convolution of v."""
        k = self.pick([1, 2, 3, 3])
        stride, dilation = self.whole(1, 2), self.pick([1, 1, 1, 2])
        pad, c = self.whole(0, min(1, k - 1)), v.channels
        group = self.pick([1, 1, c] + ([2] if c % 2 == 0 else []))
        out = group * self.whole(1, max(1, 6 // group))
        h, w = ((d + 2 * pad - dilation * (k - 1) - 1) // stride + 1 for d in v.shape[2:])
        if h < 1 or w < 1:
            k, stride, dilation, pad, h, w = 1, 1, 1, 0, v.shape[2], v.shape[3]
        attrs = dict(kernel_shape=[k, k], strides=[stride, stride], dilations=[dilation, dilation], pads=[pad] * 4,
                     group=group)
        return (out, c // group, k, k), attrs, (self.n, out, h, w)
