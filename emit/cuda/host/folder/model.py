# SPDX-License-Identifier: Apache-2.0
"""NAME: a neural network on a GPU, by libNAME.so. See README.md.

    import model
    y = model.run(x)

NumPy arrays hold values, or codes where codes=True; one more leading axis, or a longer one where the model's is 1,
counts samples. Arrays on the GPU (torch tensors, __cuda_array_interface__, DLPack) are taken as they are, in the type
that the kernels store, and outputs are of the same kind.

A model with caches of keys and values computes the first tokens, and then one more at a time:

    cache = model.new_cache()
    y = model.run(tokens, cache=cache)
    y = model.decode(token, cache=cache)
"""

import ctypes
import json
import os
import sys
import threading

import numpy as np

_here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(_here, "report.json"), encoding="utf-8") as _f:
    _report = json.load(_f)


class Error(RuntimeError):
    """What the library or this module refuses."""


class _Buffer(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("bytes", ctypes.c_size_t)]


class _Args(ctypes.Structure):
    _fields_ = [("batch", ctypes.c_int64), ("inputs", ctypes.POINTER(_Buffer)), ("outputs", ctypes.POINTER(_Buffer)),
                ("workspace", _Buffer), ("caches", ctypes.POINTER(_Buffer)), ("position", ctypes.c_int64),
                ("positions", _Buffer)]


def _open_library():
    path = os.path.join(_here, "libNAME.so")
    if not os.path.exists(path):
        raise Error(f"{path} is not there: run make in {_here}")
    lib = ctypes.CDLL(path)
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    for name, result, arguments in [
            ("abi_version", ctypes.c_int, []), ("last_error", ctypes.c_char_p, []),
            ("create", ctypes.c_int, [ctypes.POINTER(pointer), ctypes.c_int, ctypes.c_char_p]),
            ("destroy", None, [pointer]), ("code", ctypes.c_char_p, [pointer]),
            ("workspace_bytes", size, [ctypes.c_int64]),
            ("run", ctypes.c_int, [pointer, pointer, ctypes.POINTER(_Args)]),
            ("decode", ctypes.c_int, [pointer, pointer, ctypes.POINTER(_Args)]),
            ("wait", ctypes.c_int, [pointer, pointer]),
            ("allocate", ctypes.c_int, [pointer, size, ctypes.POINTER(_Buffer)]),
            ("release", ctypes.c_int, [pointer, _Buffer]),
            ("upload", ctypes.c_int, [pointer, _Buffer, pointer, size]),
            ("download", ctypes.c_int, [pointer, pointer, _Buffer, size])]:
        function = getattr(lib, "NAME_" + name)
        function.restype, function.argtypes = result, arguments
        setattr(lib, name, function)
    if lib.abi_version() != 2:
        raise Error(f"{path} has version {lib.abi_version()} of its interface, this module needs 2: run make again")
    return lib


# The types of elements in memory: NumPy's, and DLPack's kind (0 signed, 1 unsigned, 2 float, 4 bfloat).
_TYPES = {"i8": (np.int8, 0), "u8": (np.uint8, 1), "i16": (np.int16, 0), "u16": (np.uint16, 1), "i32": (np.int32, 0),
          "u32": (np.uint32, 1), "i64": (np.int64, 0), "f32": (np.float32, 2), "f16": (np.float16, 2),
          "bf16": (np.uint16, 4)}

_ROUND = {"even": np.rint, "away": lambda q: np.trunc(q + np.copysign(0.5, q)), "up": lambda q: np.floor(q + 0.5),
          "down": lambda q: np.ceil(q - 0.5), "halfzero": lambda q: np.copysign(np.ceil(np.abs(q) - 0.5), q),
          "floor": np.floor, "ceil": np.ceil, "zero": np.trunc, "stochastic": np.floor,
          "outward": lambda q: np.copysign(np.ceil(np.abs(q)), q)}


def _to_bf16(x):
    bits = x.view(np.uint32)
    rounded = ((bits + np.uint32(0x7fff) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(x), (bits >> np.uint32(16)).astype(np.uint16) | np.uint16(0x40), rounded)


class Port:
    """An input or output: shape is that of one sample in the caller's array, store the type in memory."""

    def __init__(self, facts, is_input):
        self.name, self.format, self.store = facts["name"], facts["format"], facts["store"]
        self.memory = tuple(facts["shape"])
        self.shape = tuple(facts.get("array_shape", facts["shape"]))
        self._perm, self._input, self._values = facts.get("perm"), is_input, facts["values"]
        self._exponents = facts.get("exponents")
        self.dtype, self.dlpack = _TYPES[self.store]
        self.scales = "scales_buffer" in facts
        self.elements = int(np.prod(self.memory, dtype=np.int64))

    def __repr__(self):
        return f"{self.name}: {self.format}, shape {self.shape}"

    def batch(self, shape):
        """How an array of a shape holds samples: their number, and the shape that outputs have in front of theirs."""
        shape = tuple(shape)
        if shape == self.shape:
            return 1, "single"
        if len(shape) == len(self.shape) and shape and self.shape[0] == 1 and shape[1:] == self.shape[1:]:
            return shape[0], "replaced"
        if len(shape) == len(self.shape) + 1 and shape[1:] == self.shape:
            return shape[0], "prepended"
        raise Error(f"input {self.name} has shape {shape}; the model takes {self.shape}, or that with samples in front")

    def shaped(self, samples, axis):
        """The shape of an array of samples of this output."""
        if axis == "single":
            return self.shape
        if axis == "replaced" and self.shape and self.shape[0] == 1:
            return (samples,) + self.shape[1:]
        return (samples,) + self.shape

    def order(self):
        """The axes of a batch in the buffer (of an input) or in the caller's array (of an output)."""
        return None if self._perm is None else [0] + [1 + p for p in self._perm]

    def _whole(self, array, low, high):
        x = np.asarray(array)
        if x.dtype.kind not in "biu" and not (x == np.trunc(x)).all():
            raise Error(f"input {self.name} takes whole numbers")
        if x.size and (x.min() < low or x.max() > high):
            raise Error(f"input {self.name} takes {low} to {high}, the array holds {x.min()} to {x.max()}")
        return np.ascontiguousarray(x.astype(self.dtype))

    def encode(self, array, codes):
        """The bytes of the codes of values, and those of scales."""
        kind = self._values["kind"]
        if np.asarray(array).dtype.kind in "cSU":
            raise Error(f"input {self.name} takes real numbers, the array holds {np.asarray(array).dtype}")
        if kind == "whole":
            return [self._whole(array, self._values["min"], self._values["max"])]
        if codes and kind != "float":
            if self.scales:
                raise Error(f"input {self.name} is in blocks, whose scales are no codes of an array: give values")
            limits = np.iinfo(self.dtype)
            return [self._whole(array, limits.min, limits.max)]
        x = np.ascontiguousarray(array, dtype=np.float32)
        if self._exponents is not None:
            x = np.ldexp(x, np.array(self._exponents, np.int32))
        if kind == "float":
            return [_to_bf16(x) if self.store == "bf16" else x.astype(self.dtype)]
        if not np.isfinite(x).all():
            raise Error(f"input {self.name} holds NaN or an infinity, which {self.format} has no codes for")
        if kind == "integer":
            return [self._integers(x)]
        if kind == "table":
            at = np.searchsorted(np.array(self._values["from"], np.float32), x, side="right") - 1
            found = np.array(self._values["codes"])[np.maximum(at, 0)]
            zero = (x == 0) & np.signbit(x)
            return [np.where(zero, self._values.get("minus_zero", 0), found).astype(self.dtype)]
        if kind == "block":
            return self._blocks(x)
        raise Error(f"input {self.name}: values of {self.format} are not converted here: give codes, and codes=True")

    def _integers(self, x):
        v = self._values
        if v.get("divide") == "f32":
            q = (x / np.float32(v["scale"])).astype(np.float64)
        else:
            q = x.astype(np.float64) / v["scale"]
        q = _ROUND[v["round"]](q) + v["zero"]
        if v.get("wrap"):
            span = 2 ** v["bits"]
            return ((np.fmod(q, span).astype(np.int64) - v["min"]) % span + v["min"]).astype(self.dtype)
        return np.clip(q, v["min"], v["max"]).astype(np.int64).astype(self.dtype)

    def _blocks(self, x):
        v, row = self._values, self.memory[-1]
        rows = x.reshape(-1, row).astype(np.float64)
        padded = np.zeros((rows.shape[0], -(-row // v["block"]) * v["block"]))
        padded[:, :row] = rows
        blocks = padded.reshape(rows.shape[0], -1, v["block"])
        most = np.abs(blocks).max(axis=2)
        exponent = np.clip(np.frexp(most)[1] - 1, v["scale_min"], v["scale_max"])
        fields = np.where(most > 0, exponent + v["scale_bias"], 0)
        step = np.ldexp(v["scale"], exponent)
        codes = np.clip(_ROUND[v["round"]](blocks / step[:, :, None]), v["min"], v["max"])
        codes = codes.reshape(rows.shape[0], -1)[:, :row]
        return [np.ascontiguousarray(codes.astype(self.dtype)), fields.astype(np.uint8)]

    def decode(self, codes, scales, as_codes):
        """The values of codes, float32 unless the format has more than 24 bits."""
        v = self._values
        if v["kind"] == "whole":
            return codes.astype(v["type"])
        if v["kind"] == "float":
            if self.store == "bf16":
                return (codes.astype(np.uint32) << 16).view(np.float32)
            return codes.astype(np.float32)
        if as_codes or v["kind"] == "code":
            return codes
        if v["kind"] == "table":
            return np.array(v["table"], np.float64)[codes & (len(v["table"]) - 1)].astype(np.float32)
        x = (codes.astype(np.int64) - v["zero"]).astype(np.float64) * v["scale"]
        if v["kind"] == "block":
            rows = x.reshape(-1, self.memory[-1])
            fields = scales.astype(np.int64).reshape(rows.shape[0], -1)
            factor = np.ldexp(1.0, fields - v["scale_bias"])
            factor[fields == 2 ** v["scale_bits"] - 1] = np.nan
            x = (rows * np.repeat(factor, v["block"], axis=1)[:, :rows.shape[1]]).reshape(codes.shape)
        return x if v["bits"] > 24 else x.astype(np.float32)

    def scale_bytes(self):
        """Bytes of the scales of one sample: a byte a block."""
        return self.elements // self.memory[-1] * -(-self.memory[-1] // self._values["block"]) if self.scales else 0


def _ports(program, kind, wanted):
    return [Port(p, kind == "inputs") for p in program[kind] if wanted(p)]


def _given_or_taken(p):
    return not p.get("cache") and not p.get("position")


inputs, outputs = [_ports(_report, kind, _given_or_taken) for kind in ("inputs", "outputs")]
caches = _ports(_report, "inputs", lambda p: p.get("cache"))
max_seq = caches[0].shape[2] if caches else 0  # tokens that caches have room for
step_inputs, step_outputs = [_ports(_report.get("step") or {"inputs": [], "outputs": []}, kind, _given_or_taken)
                             for kind in ("inputs", "outputs")]  # of decode


def _lengths(ports):
    """Bytes of one sample of the arrays of the library."""
    out = []
    for p in ports:
        out.append(p.elements * np.dtype(p.dtype).itemsize)
        if p.scales:
            out.append(p.scale_bytes())
    return out


# DLPack, https://dmlc.github.io/dlpack: the structures of version 0.
class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("kind", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _DLManaged(ctypes.Structure):
    _fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_CUDA = 2
_capsules = ctypes.pythonapi
_capsules.PyCapsule_GetPointer.restype = ctypes.c_void_p
_capsules.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_capsules.PyCapsule_New.restype = ctypes.py_object
_capsules.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_given = {}  # what consumers of DLPack hold, by the address of its structure


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _taken_back(managed):
    _given.pop(managed, None)


_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _capsules))
_in_capsule = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _capsules))


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _capsule_dropped(capsule):
    if _is_capsule(capsule, b"dltensor"):  # nobody has taken it
        _given.pop(_in_capsule(capsule, b"dltensor"), None)


class DeviceArray:
    """An output on the GPU, for whoever reads __cuda_array_interface__ or DLPack."""

    def __init__(self, owner, port, shape, batch, stream):
        self._owner, self._port, self._batch, self.stream = owner, port, batch, stream
        self.shape, self.dtype = tuple(shape), np.dtype(port.dtype)
        self._buffer = owner._allocate(int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize)

    def __del__(self):
        if getattr(self, "_buffer", None) is not None:
            self._owner._release(self._buffer)

    @property
    def __cuda_array_interface__(self):
        if self._port.store == "bf16":
            raise AttributeError("NumPy has no bfloat16: take DLPack")
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self._buffer.address, False), "version": 3,
                "strides": None, "stream": self.stream or 1}

    def __dlpack_device__(self):
        return _CUDA, self._owner.device

    def __dlpack__(self, stream=None, **_):
        self._owner.wait(self.stream)
        sizes = (ctypes.c_int64 * max(len(self.shape), 1))(*self.shape)
        managed = _DLManaged()
        t = managed.tensor
        t.data, t.device_type, t.device_id, t.ndim = self._buffer.address, _CUDA, self._owner.device, len(self.shape)
        t.kind, t.bits, t.lanes = self._port.dlpack, 8 * self.dtype.itemsize, 1
        t.shape = ctypes.cast(sizes, ctypes.POINTER(ctypes.c_int64))
        managed.deleter = ctypes.cast(_taken_back, ctypes.c_void_p).value
        _given[ctypes.addressof(managed)] = (managed, sizes, self)
        return _capsules.PyCapsule_New(ctypes.addressof(managed), b"dltensor",
                                       ctypes.cast(_capsule_dropped, ctypes.c_void_p))

    def numpy(self):
        """The values, as NumPy arrays; codes of blocks, of which the scales are another output."""
        self._owner.wait(self.stream)
        codes = np.empty(self.shape, self.dtype)
        self._owner._download(self._buffer, codes)
        return codes if self._port.scales else self._port.decode(codes, None, False)


def _torch_of(x):
    """The module torch, if x is a tensor of its."""
    torch = sys.modules.get("torch")
    return torch if torch and isinstance(x, torch.Tensor) else None


def _on_device(x):
    if _torch_of(x):
        return x.is_cuda
    if hasattr(x, "__cuda_array_interface__"):
        return True
    return hasattr(x, "__dlpack_device__") and x.__dlpack_device__()[0] == _CUDA


def _shape(x):
    if hasattr(x, "shape"):
        return tuple(x.shape)
    facts = getattr(x, "__cuda_array_interface__", None)
    return tuple(facts["shape"]) if facts else np.shape(x)


def _device_view(x, stream):
    """Address, shape, strides in bytes, element size and kind of an array on a GPU, and what keeps it."""
    if hasattr(x, "__dlpack__"):
        capsule = x.__dlpack__(stream=stream or 1)
        t = _DLManaged.from_address(_capsules.PyCapsule_GetPointer(capsule, b"dltensor")).tensor
        shape, size = tuple(t.shape[:t.ndim]), t.bits // 8
        strides = tuple(s * size for s in t.strides[:t.ndim]) if t.strides else None
        return (t.data or 0) + t.byte_offset, shape, strides, size, t.kind, capsule
    facts = x.__cuda_array_interface__
    kind = {"i": 0, "u": 1, "f": 2, "b": 1}.get(facts["typestr"][1])
    return facts["data"][0], tuple(facts["shape"]), facts.get("strides"), int(facts["typestr"][2:]), kind, x


def _stream_of(x):
    """The stream on which an array is written, as far as it says so."""
    if torch := _torch_of(x):
        return torch.cuda.current_stream(x.device).cuda_stream
    return (getattr(x, "__cuda_array_interface__", None) or {}).get("stream") or 0


class Cache:
    """The keys and values of the tokens so far: memory on the GPU of a model, for a number of samples. length counts
    the tokens; a smaller one forgets the last of them."""

    def __init__(self, owner, batch=1):
        if not caches:
            raise Error("the model has no caches; lathe emit-cuda --max-seq N makes them")
        if not isinstance(batch, int) or batch < 1:
            raise Error(f"caches for {batch!r} samples: a whole number from 1 on is needed")
        self._owner, self.batch, self.length, self.buffers = owner, batch, 0, []
        for n in _lengths(caches):
            self.buffers.append(owner._allocate(batch * n))

    def __repr__(self):
        return f"<caches of {self.batch} samples with {self.length} tokens>"

    def __del__(self):
        for b in getattr(self, "buffers", []):
            self._owner._release(b)


class Model:
    """The model on one GPU. Calls may come from several threads."""

    def __init__(self, device=0, weights=None):
        self._lib, self.device, self._handle = _open_library(), device, ctypes.c_void_p()
        self._workspaces = {}
        weights = os.fspath(weights or os.path.join(_here, _report["tables"]))
        self._check(self._lib.create(ctypes.byref(self._handle), device, os.fsencode(weights)))
        self.code = self._lib.code(self._handle).decode()

    def __del__(self):
        if getattr(self, "_handle", None):
            for b in self._workspaces.values():
                self._release(b)
            self._lib.destroy(self._handle)
            self._handle = None

    def _check(self, status):
        if status != 0:
            raise Error(self._lib.last_error().decode(errors="replace"))

    def _allocate(self, size):
        b = _Buffer()
        self._check(self._lib.allocate(self._handle, size, ctypes.byref(b)))
        return b

    def _release(self, b):
        if self._handle:  # at the end of a program the model may go before its arrays
            self._lib.release(self._handle, b)

    def _upload(self, b, array):
        self._check(self._lib.upload(self._handle, b, array.ctypes.data, array.nbytes))

    def _download(self, b, array):
        self._check(self._lib.download(self._handle, array.ctypes.data, b, array.nbytes))

    def wait(self, stream=0):
        """Waits until all work of a stream is done."""
        self._check(self._lib.wait(self._handle, stream or None))

    def launch(self, batch, inputs, outputs, workspace, stream=0, cache=None, decode=False):
        """Runs on device memory, given as (address, bytes): all arrays of the library, scales among them."""
        a = (_Buffer * max(len(inputs), 1))(*[_Buffer(*b) for b in inputs])
        b = (_Buffer * max(len(outputs), 1))(*[_Buffer(*b) for b in outputs])
        args = _Args(batch, a, b, _Buffer(*workspace))
        if cache is not None:
            args.caches, args.position = (_Buffer * max(len(cache.buffers), 1))(*cache.buffers), cache.length
        call = self._lib.decode if decode else self._lib.run
        self._check(call(self._handle, stream or None, ctypes.byref(args)))

    def new_cache(self, batch=1):
        """Caches for so many samples, which hold no tokens."""
        return Cache(self, batch)

    def workspace_bytes(self, batch):
        """Bytes of scratch memory that a run of so many samples needs; 0 if there can be no such run."""
        return self._lib.workspace_bytes(batch)

    def run(self, *arrays, codes=False, stream=None, cache=None, **named):
        """The outputs for inputs in order or by name: one array, or a tuple of several. With a cache these are the
        first tokens; NumPy arrays may hold fewer than the model takes, and outputs have as many."""
        return self._call(inputs, outputs, False, arrays, codes, stream, cache, named)

    def decode(self, *arrays, codes=False, stream=None, cache=None, **named):
        """The outputs for one more token, behind those in the cache, which then holds it too."""
        if cache is None:
            raise Error("decode needs cache=, which new_cache makes")
        return self._call(step_inputs, step_outputs, True, arrays, codes, stream, cache, named)

    def _call(self, inputs, outputs, decode, arrays, codes, stream, cache, named):
        names = [p.name for p in inputs]
        if len(arrays) > len(inputs):
            raise Error(f"{len(arrays)} arrays are given, the inputs are {names}")
        arrays = list(arrays) + [None] * (len(inputs) - len(arrays))
        for i, p in enumerate(inputs):
            if p.name in named:
                arrays[i] = named.pop(p.name)
        missing = [p.name for p, x in zip(inputs, arrays) if x is None]
        if missing or named:
            raise Error(f"the inputs are {names}; missing: {missing}, unknown: {list(named)}")
        device = [_on_device(x) for x in arrays]
        if any(device) != all(device):
            raise Error("some inputs are on the GPU and others are not")
        tokens = room = inputs[0].shape[1] if caches else 0
        if caches and not decode and not any(device):
            if np.ndim(arrays[0]) < len(inputs[0].shape):
                raise Error(f"input {inputs[0].name} has shape {np.shape(arrays[0])}; the model takes "
                            f"{inputs[0].shape}, or fewer tokens")
            tokens = min(np.shape(arrays[0])[np.ndim(arrays[0]) - len(inputs[0].shape) + 1], room)
            if tokens == 0:
                raise Error("no tokens")
            arrays = [_resized(p, np.asarray(x), room) for p, x in zip(inputs, arrays)]
        batches = [p.batch(_shape(x)) for p, x in zip(inputs, arrays)]
        batch, axis = batches[0] if batches else (1, "single")
        if any(b[0] != batch for b in batches):
            raise Error(f"the inputs hold {[b[0] for b in batches]} samples")
        if cache is None and caches:
            raise Error("the model has caches: give cache=, which new_cache makes")
        if cache is not None and getattr(cache, "_owner", None) is not self:
            raise Error("cache= takes what new_cache of this model makes")
        if cache is not None and cache.batch != batch:
            raise Error(f"the inputs hold {batch} samples, the cache is for {cache.batch}")
        if cache is not None and not decode:
            cache.length = 0
        way = (inputs, outputs, cache, decode)
        if any(device):
            results = self._run_device(way, arrays, batch, axis, stream)
        else:
            results = self._run_host(way, arrays, batch, axis, codes)
        if cache is not None:
            cache.length += tokens
        if tokens < room:
            results = [_resized(p, y, tokens) for p, y in zip(outputs, results)]
        return results[0] if len(results) == 1 else tuple(results)

    def _run_host(self, way, arrays, batch, axis, codes):
        inputs, outputs, cache, decode = way
        parts = []
        for p, x in zip(inputs, arrays):
            x = np.asarray(x).reshape((batch,) + p.shape)
            parts += p.encode(x.transpose(p.order()) if p.order() else x, codes)
        held = []
        try:
            def allocate(size):
                held.append(self._allocate(size))
                return held[-1]

            workspace = allocate(self._lib.workspace_bytes(batch))
            given = [allocate(x.nbytes) for x in parts]
            for b, x in zip(given, parts):
                self._upload(b, x)
            taken = [allocate(batch * n) for n in _lengths(outputs)]
            pairs = [[(b.address, b.bytes) for b in list] for list in (given, taken)]
            self.launch(batch, pairs[0], pairs[1], (workspace.address, workspace.bytes), 0, cache, decode)
            return self._results(outputs, taken, batch, axis, codes)
        finally:
            for b in held:
                self._release(b)

    def _results(self, outputs, taken, batch, axis, codes):
        results, at = [], 0
        for p in outputs:
            raw = np.empty((batch,) + p.memory, p.dtype)
            self._download(taken[at], raw)
            at, scales = at + 1, None
            if p.scales:
                scales = np.empty(batch * p.scale_bytes(), np.uint8)
                self._download(taken[at], scales)
                at += 1
            y = p.decode(raw, scales, codes)
            y = y.transpose(p.order()) if p.order() else y
            results.append(np.ascontiguousarray(y).reshape(p.shaped(batch, axis)))
        return results

    def _run_device(self, way, arrays, batch, axis, stream):
        inputs, outputs, cache, decode = way
        if any(p.scales for p in inputs + outputs):
            raise Error("values in blocks are taken and given as NumPy arrays only")
        if stream is None:
            stream = next((s for s in map(_stream_of, arrays) if s), 0)
        stream = getattr(stream, "cuda_stream", getattr(stream, "ptr", stream))
        torch = _torch_of(arrays[0])
        views = [self._taken(p, x, batch, stream, torch) for p, x in zip(inputs, arrays)]
        size = self._lib.workspace_bytes(batch)
        if torch:
            with torch.cuda.device(arrays[0].device):
                made = [torch.empty((batch,) + p.memory, dtype=_torch_type(torch, p), device=arrays[0].device)
                        for p in outputs]
                scratch = torch.empty(max(size, 1), dtype=torch.uint8, device=arrays[0].device)
            workspace = (scratch.data_ptr(), size)
            targets = [(y.data_ptr(), y.numel() * y.element_size()) for y in made]
        else:
            made = [DeviceArray(self, p, (batch,) + p.memory if p.order() else p.shaped(batch, axis), batch, stream)
                    for p in outputs]
            workspace = self._workspace(size, stream)
            targets = [(y._buffer.address, y._buffer.bytes) for y in made]
        self.launch(batch, [v[0] for v in views], targets, workspace, stream, cache, decode)
        if torch:
            made = [(y.permute(p.order()) if p.order() else y).reshape(p.shaped(batch, axis))
                    for p, y in zip(outputs, made)]
        return made

    def _workspace(self, size, stream):
        """Scratch memory of this thread and stream, in which runs follow each other."""
        key = (threading.get_ident(), stream)
        have = self._workspaces.get(key)
        if have is None or have.bytes < size:
            if have is not None:
                self._release(have)
            have = self._workspaces[key] = self._allocate(size)
        return have.address, have.bytes

    def _taken(self, p, x, batch, stream, torch):
        """Address and bytes of an input on the GPU in the layout of the kernels, and what keeps it."""
        if torch:
            if x.dtype != _torch_type(torch, p):
                raise Error(f"input {p.name} is {p.store} in memory, the tensor is {x.dtype}")
            x = x.detach().reshape((batch,) + p.shape)
            x = (x.permute(p.order()) if p.order() else x).contiguous()
            return (x.data_ptr(), x.numel() * x.element_size()), x
        address, shape, strides, size, kind, keep = _device_view(x, stream)
        if p.store == "bf16" and kind == 1:  # NumPy's types have no bfloat16
            kind = p.dlpack
        if size != np.dtype(p.dtype).itemsize or kind != p.dlpack:
            raise Error(f"input {p.name} is {p.store} in memory; the array on the GPU has elements of another type")
        if p.order() is not None:
            raise Error(f"input {p.name} has its axes in another order in memory: give a torch tensor or a NumPy array")
        if strides is not None and batch:
            expected = size
            for n, s in zip(reversed(shape), reversed(strides)):
                if n != 1 and s != expected:
                    raise Error(f"input {p.name} is not contiguous")
                expected *= n
        return (address, batch * p.elements * size), keep


def _resized(p, x, tokens):
    """An array with so many tokens, which are axis 1 of a sample: cut, or zeros at the end."""
    axis = x.ndim - len(p.shape) + 1
    if len(p.shape) < 2 or axis < 1 or p.shape[1] != inputs[0].shape[1] or x.shape[axis] == tokens:
        return x
    if x.shape[axis] > tokens:
        return x.take(range(tokens), axis) if p in outputs else x
    return np.concatenate([x, np.zeros(x.shape[:axis] + (tokens - x.shape[axis],) + x.shape[axis + 1:], x.dtype)], axis)


def _torch_type(torch, p):
    names = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "u8": "uint8", "i16": "int16",
             "u16": "uint16", "i32": "int32", "u32": "uint32", "i64": "int64"}
    return getattr(torch, names[p.store])


_lock = threading.Lock()
_default = None
_operator = None


def default():
    """The model on GPU 0, which run uses."""
    global _default
    with _lock:
        if _default is None:
            _default = Model()
        return _default


def run(*arrays, **named):
    """Model.run on GPU 0."""
    return default().run(*arrays, **named)


def new_cache(batch=1):
    """Model.new_cache on GPU 0."""
    return default().new_cache(batch)


def decode(*arrays, **named):
    """Model.decode on GPU 0."""
    return default().decode(*arrays, **named)


def torch_operator():
    """The operator lathe_NAME::run of PyTorch: a list of tensors to a list of tensors, in the types that the kernels
    store, on the CPU or the GPU. torch.compile knows the shapes of its outputs."""
    global _operator
    if caches:
        raise Error("there is no operator of a model with caches, which its calls change: run and decode take them")
    import torch
    with _lock:
        if _operator is not None:
            return _operator

        def call(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
            if tensors and tensors[0].is_cuda:
                out = _on_gpu(tensors[0].device.index or 0).run(*tensors)
                return list(out) if isinstance(out, tuple) else [out]
            arrays = [_from_torch(torch, p, x) for p, x in zip(inputs, tensors)]
            out = default().run(*arrays, codes=True)
            return [_to_torch(torch, p, y) for p, y in zip(outputs, out if isinstance(out, tuple) else (out,))]

        def shapes(tensors):
            batch, axis = inputs[0].batch(tensors[0].shape) if inputs else (1, "single")
            return [torch.empty(p.shaped(batch, axis), dtype=_torch_type(torch, p), device=tensors[0].device)
                    for p in outputs]

        _operator = torch.library.custom_op("lathe_NAME::run", call, mutates_args=())
        _operator.register_fake(shapes)
        return _operator


_models = {}


def _on_gpu(device):
    """The model on a GPU, one for all callers."""
    if device == 0:
        return default()
    with _lock:
        if device not in _models:
            _models[device] = Model(device)
        return _models[device]


def _from_torch(torch, p, x):
    if x.dtype != _torch_type(torch, p):
        raise Error(f"input {p.name} is {p.store} in memory, the tensor is {x.dtype}")
    return x.float().numpy() if p.store == "bf16" else x.numpy()


def _to_torch(torch, p, y):
    return torch.from_numpy(np.ascontiguousarray(y)).to(_torch_type(torch, p))
