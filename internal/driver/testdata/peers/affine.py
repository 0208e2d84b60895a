# SPDX-License-Identifier: Apache-2.0
"""Graphs of QuantizeLinear and DequantizeLinear: codes of 8 bits with zero points between layers."""
import numpy as np
from onnx import TensorProto

from net import Net, Rounding, Value

# Errors of units in codes of 8 bits, before the rounding; that of norms includes gains, which the model leaves float.
SOFTMAX, NORM = 0.001, 0.003


class Affine(Net):
    def __init__(self, seed, n):
        super().__init__(seed, n, 18)

    def quant(self, v, like=None, slack=0.0):
        signed = self.chance(0.5)
        zero = 0 if self.chance(0.4) else self.whole(-40, 40) + (0 if signed else 128)
        if not signed and zero == 0 and self.chance(0.5):
            zero = 3
        low, high = (-128, 127) if signed else (0, 255)
        scale = self.near_scale(3 * v.mag / 128)
        kind = np.int8 if signed else np.uint8
        if like is not None:
            scale, zero, low, high, signed = like.scale, like.zero, like.low, like.high, like.signed
            kind = np.int8 if signed else np.uint8
        args = [self.f32(scale), self.const(np.array(zero, kind))]
        out = self.node("DequantizeLinear", [self.node("QuantizeLinear", [v.name] + args)] + args)
        self.roundings.append(Rounding(v.name, np.float64(scale), zero, low, high, True, slack=slack))
        return Value(out, v.shape, min(v.mag, float(scale) * 255), scale, 8, signed, zero, low, high)

    def weights(self, shape, outputs, mag):
        codes = np.clip(np.round(self.normal(*shape) * 50), -127, 127).astype(np.int8)
        scale, axis = self.near_scale(mag / 50), None
        if self.chance(0.5):
            each = self.rng.integers(-1, 2, shape[outputs]) if self.exact else self.normal(shape[outputs]) * 0.5
            scale, axis = (scale * 2.0**each).astype(np.float32), outputs
        zero = self.const(np.zeros(np.shape(scale), np.int8))
        inputs = [self.const(codes, "w"), self.f32(scale), zero]
        return self.node("DequantizeLinear", inputs, axis=axis), scale

    def bias(self, v, scale, count):
        if self.chance(0.3):
            return None
        product = (np.float32(v.scale) * scale).astype(np.float32)
        codes = self.const(np.round(self.normal(count) * 2000).astype(np.int32), "b")
        return self.node("DequantizeLinear", [codes, self.f32(product)], axis=0 if np.ndim(product) else None)

    def add(self, v):
        a, b = self.quant(v), self.quant(self.relu(v))
        op = self.pick(["Add", "Add", "Mul", "Sub"])
        return Value(self.node(op, [a.name, b.name]), v.shape, v.mag**2 if op == "Mul" else v.mag * 1.5)

    def join(self, v):
        a = self.quant(v)
        b = self.quant(self.relu(v), a if self.chance(0.5) else None)
        axis = 1 if len(v.shape) == 4 else len(v.shape) - 1
        shape = list(v.shape)
        shape[axis] *= 2
        return Value(self.node("Concat", [a.name, b.name], axis=axis), tuple(shape), v.mag)

    def resize(self, v):
        if len(v.shape) != 4:
            return self.relu(v)
        inputs = [v.name, "", self.f32([1, 1, 2, 2])]
        out = self.node("Resize", inputs, mode="nearest", coordinate_transformation_mode="asymmetric",
                        nearest_mode="floor")
        return Value(out, v.shape[:2] + (v.shape[2] * 2, v.shape[3] * 2), v.mag)

    def soft(self, v):
        """What computes along the last axis, between quantizers: docs/transformers.md has the errors of hardware."""
        if self.exact:
            return self.relu(v)
        v = self.coded(v)
        if self.chance(0.5):
            return self.quant(Value(self.node("Softmax", [v.name], axis=-1), v.shape, 0.3), slack=SOFTMAX)
        k = v.shape[-1]
        gain, shift = self.rng.uniform(0.5, 1.5, k), self.normal(k) * 0.3
        inputs = [v.name, self.f32(gain), self.f32(shift)]
        return self.quant(Value(self.node("LayerNormalization", inputs, axis=-1), v.shape, 1.0), slack=NORM)

    def same(self, v):
        """What only moves or compares codes, between quantizers of one scale."""
        a = self.coded(v)
        return self.quant(self.pick([self.pool, self.resize, self.pad])(a) if len(a.shape) == 4 else self.relu(a), a)


def draw(seed, n):
    g = Affine(seed, n)
    v = g.quant(g.input())
    for _ in range(g.whole(1, 5)):
        steps = [g.conv, g.conv, g.conv, g.product, g.relu, g.clip, g.curve, g.add, g.join, g.transpose, g.soft]
        if len(v.shape) == 4:
            steps += [g.pool, g.pool, g.flatten, g.pad, g.resize, g.same]
        v = g.pick(steps)(v)
        if g.chance(0.85) and g.nodes[-1].op_type != "DequantizeLinear":
            v = g.quant(v)
    return g.finish(v if g.nodes[-1].op_type == "DequantizeLinear" else g.quant(v))
