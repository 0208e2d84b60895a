# SPDX-License-Identifier: Apache-2.0
"""Graphs of QONNX: quantizers of arbitrary widths between layers."""
import numpy as np

from net import Net, Rounding, Value

GENERAL = "qonnx.custom_op.general"
ROUNDS = ["ROUND", "ROUND", "HALF_EVEN", "HALF_UP", "HALF_DOWN", "FLOOR", "CEIL", "UP", "DOWN"]
EVEN = ("ROUND", "HALF_EVEN")
HALF = EVEN + ("HALF_UP", "HALF_DOWN")


class Arbitrary(Net):
    gemms = 0.4

    def __init__(self, seed, n):
        super().__init__(seed, n, 13)
        self.version = self.whole(1, 2)
        self.domains = [(GENERAL, self.version)]

    def quant(self, v):
        if self.chance(0.08):
            return self.bipolar(v)
        signed = self.chance(0.6)
        bits = self.whole(2 if signed else 1, 8)
        narrow = self.chance(0.3) and bits > 1
        mode, zero = self.pick(ROUNDS), 0
        if self.chance(0.15):
            zero = self.whole(-2, 3) if signed else self.whole(0, 2**bits - 2)
            if signed and mode not in EVEN:
                mode = self.pick(["FLOOR", "CEIL"])  # others are refused: none of x/scale rounds so
            if mode in EVEN and self.exact:
                zero -= zero % 2  # an odd one moves ties to the odd code, which is documented
        low, high = self.limits(bits, signed, narrow)
        scale = self.near_scale(2 * v.mag / max(1, high))
        if self.chance(0.1) and self.exact and zero == 0 and len(v.shape) == 4:
            scale = (scale * 2.0 ** self.rng.integers(-1, 2, (1, v.channels, 1, 1))).astype(np.float32)
        inputs = [v.name, self.f32(scale), self.f32(zero), self.f32(bits)]
        out = self.node(self.pick(["Quant", "IntQuant"]) if self.version == 1 else "IntQuant", inputs, GENERAL,
                        signed=int(signed), narrow=int(narrow), rounding_mode=mode)
        self.roundings.append(Rounding(v.name, scale, zero, low, high, mode in HALF))
        most = float(np.max(scale)) * max(abs(low), high)
        return Value(out, v.shape, min(v.mag, most), scale, bits, signed, zero, low, high)

    @staticmethod
    def limits(bits, signed, narrow):
        if signed:
            return -(2 ** (bits - 1)) + int(narrow), 2 ** (bits - 1) - 1
        return 0, 2**bits - 1 - int(narrow)

    def bipolar(self, v):
        scale = self.near_scale(v.mag)
        if self.chance(0.3):
            inputs = [v.name, self.f32(scale), self.f32(0), self.f32(1)]
            out = self.node("IntQuant", inputs, GENERAL, signed=1, narrow=0, rounding_mode="ROUND")
        else:
            out = self.node("BipolarQuant", [v.name, self.f32(scale)], GENERAL)
        self.roundings.append(Rounding(v.name, float(scale), 0, -np.inf, np.inf, False, 1e30))
        return Value(out, v.shape, float(scale), scale, 0, True, 0, -1, 1)

    def weights(self, shape, outputs, mag):
        """Quantized weights, one scale or one an output: their name, and their scales."""
        w = self.normal(*shape) * mag
        if self.chance(0.1):
            scale = self.near_scale(mag)
            return self.node("BipolarQuant", [self.f32(w, "w"), self.f32(scale)], GENERAL), scale
        bits = self.whole(2, 8)
        narrow = self.chance(0.5)
        _, high = self.limits(bits, True, narrow)
        scale = self.near_scale(2.5 * mag / max(1, high))
        if self.chance(0.5):
            each = self.rng.integers(-1, 2, shape[outputs]) if self.exact else self.normal(shape[outputs]) * 0.5
            along = [1] * len(shape)
            along[outputs] = shape[outputs]
            scale = (scale * 2.0**each).astype(np.float32).reshape(along)
        zero = self.whole(-2, 2) if np.ndim(scale) == 0 and self.chance(0.1) else 0
        inputs = [self.f32(w, "w"), self.f32(scale), self.f32(zero), self.f32(bits)]
        return self.node("IntQuant" if self.version == 2 else "Quant", inputs, GENERAL, signed=1, narrow=int(narrow),
                         rounding_mode=self.pick(ROUNDS)), scale

    def bias(self, v, scale, count):
        """A bias that is a multiple of the products of v; None where v has several scales."""
        if np.size(v.scale) > 1 or self.chance(0.4):
            return None
        codes = np.round(self.normal(count) * 8)
        return self.f32(codes * np.reshape(v.scale, -1) * np.reshape(scale, -1), "b")

    def added(self, out, b):
        return [out, b] if self.chance(0.5) else [b, out]

    def trunc(self, v):
        if v.scale is None or np.size(v.scale) > 1 or v.bits < 3 or v.zero != 0:
            return self.relu(v)
        drop = self.whole(1, v.bits - 2)
        mode = self.pick(["FLOOR", "FLOOR", "ROUND", "CEIL"])
        if self.version == 1:
            inputs = [v.name, self.f32(v.scale), self.f32(0), self.f32(v.bits), self.f32(v.bits - drop)]
            out = self.node("Trunc", inputs, GENERAL, rounding_mode=mode)
            scale, mag = v.scale, v.mag / 2**drop
        else:
            scale, mag = np.float32(v.scale * 2.0**drop), v.mag
            inputs = [v.name, self.f32(v.scale), self.f32(0), self.f32(v.bits), self.f32(scale),
                      self.f32(v.bits - drop)]
            out = self.node("Trunc", inputs, GENERAL, rounding_mode=mode, signed=int(v.signed))
        # qonnx rounds to the codes first, which float32 keeps only about.
        self.roundings.append(Rounding(v.name, v.scale, 0, -np.inf, np.inf, mode in HALF, 2.0**drop))
        return Value(out, v.shape, mag, scale, v.bits - drop, v.signed)

    def add(self, v):
        """Two quantizers of one value, added."""
        a, b = self.quant(v), self.quant(v)
        return Value(self.node("Add", [a.name, b.name]), v.shape, v.mag * 2)

    def join(self, v):
        a, b = self.quant(v), self.quant(self.relu(v))
        axis = 1 if len(v.shape) == 4 else len(v.shape) - 1
        shape = list(v.shape)
        shape[axis] *= 2
        return Value(self.node("Concat", [a.name, b.name], axis=axis), tuple(shape), v.mag)


def draw(seed, n):
    g = Arbitrary(seed, n)
    v = g.quant(g.input())
    for _ in range(g.whole(1, 5)):
        steps = [g.conv, g.conv, g.conv, g.product, g.relu, g.clip, g.curve, g.add, g.join, g.trunc, g.transpose]
        if len(v.shape) == 4:
            steps += [g.pool, g.pool, g.flatten, g.pad, g.norm]
        v = g.pick(steps)(v)
        if g.chance(0.85):
            v = g.quant(v)
    return g.finish(v if v.scale is not None and g.nodes[-1].domain == GENERAL else g.quant(v))
