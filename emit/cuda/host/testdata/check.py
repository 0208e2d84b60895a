# check.py IN.npz WANT.npz SAMPLES PART: runs the model of the current folder and compares, arrays on the GPU included.
import sys

import numpy as np

sys.path.insert(0, ".")
import model

given, want, samples, part = np.load(sys.argv[1]), np.load(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
arrays = [given[p.name] if p.name in given.files else given[given.files[0]] for p in model.inputs]
arrays = [x[:samples] if x.shape != p.shape else x for p, x in zip(model.inputs, arrays)]


def tuples(y):
    return y if isinstance(y, tuple) else (y,)


def compare(kind, name, have, want, part):
    if next(p for p in model.outputs if p.name == name)._values["kind"] != "float":
        part = 0  # codes are exact
    have, want = np.asarray(have), np.asarray(want)
    if have.shape != want.shape or have.dtype != want.dtype:
        sys.exit(f"{kind}, {name}: {have.dtype}{have.shape}, want {want.dtype}{want.shape}")
    most = np.abs(want.astype(np.float64)).max()
    far = np.abs(have.astype(np.float64) - want.astype(np.float64)).max()
    if not far <= part * most:
        sys.exit(f"{kind}, {name}: off by {far}, of values up to {most}")


have = tuples(model.run(*arrays))
for p, y in zip(model.outputs, have):
    compare("NumPy", p.name, y, want[p.name], part)
named = tuples(model.run(**{p.name: x for p, x in zip(model.inputs, arrays)}))
for p, y, z in zip(model.outputs, have, named):
    compare("by name", p.name, z, y, 0)


class Given:  # an array on the GPU that only tells its place
    def __init__(self, m, p, x):
        codes = p.encode(x.reshape((-1,) + p.shape), False)[0]
        self.model, self.buffer = m, m._allocate(codes.nbytes)
        m._upload(self.buffer, codes)
        self.__cuda_array_interface__ = {"shape": x.shape, "typestr": codes.dtype.str, "version": 3, "strides": None,
                                         "data": (self.buffer.address, False)}

    def __del__(self):
        self.model._release(self.buffer)


class Packed:  # an array on the GPU that only speaks DLPack
    def __init__(self, x):
        self.x, self.shape = x, x.shape

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self.x.__dlpack__(stream=stream)


m = model.default()
if any(p.scales or p.order() for p in model.inputs + model.outputs):
    sys.exit()
on_gpu = [Given(m, p, x) for p, x in zip(model.inputs, arrays)]
for p, y, z in zip(model.outputs, have, tuples(model.run(*on_gpu))):
    compare("on the GPU", p.name, z.numpy(), y, 0)
packed = []
for p, x, g in zip(model.inputs, arrays, on_gpu):
    a = model.DeviceArray(m, p, x.shape, len(x), 0)
    a._buffer, g.buffer = g.buffer, a._buffer
    packed.append(Packed(a))
for p, y, z in zip(model.outputs, have, tuples(model.run(*packed))):
    compare("DLPack", p.name, z.numpy(), y, 0)
if model._given:
    sys.exit(f"{len(model._given)} arrays are still given away")
