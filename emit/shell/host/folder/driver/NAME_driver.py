# SPDX-License-Identifier: Apache-2.0
"""NAME: a neural network in the FPGA of a Zynq, for Python. Made by lathe @VERSION@: do not edit.

    from NAME_driver import Model, Pynq
    model = Model(Pynq("design.bit"))          # or Linux("/dev/uio0", "/dev/uio1", "/dev/udmabuf0"), System(socket)
    y = model.run(x)

A backend has read(device, offset), write(device, offset, value), allocate(bytes), whose result has a NumPy array of
bytes `array` and an `address`, flush(buffer), invalidate(buffer) and wait(). Device 0 is the design behind AXI4-Lite,
device 1 + k the AXI DMA for input k and output k, in its simple mode.

As a program it compares results with those of a file, with --system or --linux FILE,FILE,...:

    python3 NAME_driver.py --system SOCKET SAMPLES RESULTS
"""

import json
import mmap
import os
import select
import socket
import struct
import sys

import numpy as np

_here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(_here, "ports.json"), encoding="utf-8") as _f:
    _facts = json.load(_f, parse_int=lambda text: -0.0 if text == "-0" else int(text))
with open(os.path.join(_here, "..", "registers.json"), encoding="utf-8") as _f:
    _map = json.load(_f)
REGISTERS = {r["name"]: r["offset"] for r in _map["registers"]}
_BITS = {(r["name"], f["name"]): 1 << f["bit"] for r in _map["registers"] for f in r.get("fields", [])}


class Error(RuntimeError):
    """A device that does not hold this design, or no result."""


# ---- codes ----

_ROUND = {"even": np.rint, "away": lambda q: np.trunc(q + np.copysign(0.5, q)), "up": lambda q: np.floor(q + 0.5),
          "down": lambda q: np.ceil(q - 0.5), "halfzero": lambda q: np.copysign(np.ceil(np.abs(q) - 0.5), q),
          "floor": np.floor, "ceil": np.ceil, "zero": np.trunc, "stochastic": np.floor,
          "outward": lambda q: np.copysign(np.ceil(np.abs(q)), q)}


class Port:
    """An input or output. shape is that of one sample in the caller's array, format the number format on the stream."""

    def __init__(self, facts):
        self.name, self.format, self.input = facts["name"], facts["format"], facts["direction"] == "in"
        self.shape, self.frame_bytes = tuple(facts["array_shape"]), facts["frame_bytes"]
        self._stream, self._perm, self._exponents = tuple(facts["shape"]), facts.get("perm"), facts.get("exponents")
        self._lanes, self._beats, self._signed = facts["lanes"], facts["beats"], facts["signed"]
        self._v = facts["values"]
        self.converts = self._v["kind"] != "code"

    def __repr__(self):
        return f"{self.name}: {self.format}, shape {self.shape}"

    def encode(self, values, codes=False):
        """The frames of samples, one a row; values has one more axis in front than shape."""
        x = np.asarray(values)
        n = len(x)
        if x.shape[1:] != self.shape:
            raise Error(f"{self.name} takes arrays of shape N x {self.shape}, not {x.shape}")
        if self._perm is not None:
            x = x.transpose([0] + [1 + p for p in self._perm])
        scales = None
        if not codes:
            x = x.astype(np.float32)
            if not np.isfinite(x).all():
                raise Error(f"{self.name} holds NaN or an infinity, which {self.format} has no codes for")
            if self._exponents is not None:
                x = np.ldexp(x, np.array(self._exponents, np.int32))
            x, scales = self._quantize(x)
        elif self._v.get("scale_bits"):
            raise Error(f"{self.name} is in blocks, whose scales are no codes of an array: give values")
        else:
            bits = self._v["bits"]
            low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if self._signed else (0, (1 << bits) - 1)
            if x.dtype.kind not in "biu" and not (x == np.trunc(x)).all():
                raise Error(f"codes of {self.name} are whole numbers")
            if x.size and (x.min() < low or x.max() > high):
                raise Error(f"codes of {self.name} are {low} to {high}, the array holds {x.min()} to {x.max()}")
        return self._pack(x.reshape(n, self._beats, self._lanes).astype(np.int64), scales)

    def _quantize(self, x):
        v = self._v
        if v["kind"] == "table":
            at = np.searchsorted(np.array(v["from"], np.float32), x, side="right") - 1
            found = np.array(v["codes"])[np.maximum(at, 0)]
            return np.where((x == 0) & np.signbit(x), v.get("minus_zero", 0), found), None
        if v["kind"] == "block":
            return self._blocks(x)
        if v["kind"] != "integer":
            raise Error(f"{self.name}: values of {self.format} are not converted here: give codes, and codes=True")
        if v.get("divide") == "f32":
            q = (x / np.float32(v["scale"])).astype(np.float64)
        else:
            q = x.astype(np.float64) / v["scale"]
        q = _ROUND[v["round"]](q) + v["zero"]
        if v.get("wrap"):
            span = 2 ** v["bits"]
            return (np.fmod(q, span).astype(np.int64) - v["min"]) % span + v["min"], None
        return np.clip(q, v["min"], v["max"]), None

    def _blocks(self, x):
        v, row = self._v, self._stream[-1]
        rows = x.reshape(-1, row).astype(np.float64)
        padded = np.zeros((rows.shape[0], -(-row // v["block"]) * v["block"]))
        padded[:, :row] = rows
        blocks = padded.reshape(rows.shape[0], -1, v["block"])
        most = np.abs(blocks).max(axis=2)
        exponent = np.where(most > 0, np.clip(np.frexp(most)[1] - 1, v["scale_min"], v["scale_max"]), -v["scale_bias"])
        codes = np.clip(_ROUND[v["round"]](blocks / np.ldexp(v["scale"], exponent)[:, :, None]), v["min"], v["max"])
        fields = np.repeat(exponent + v["scale_bias"], v["block"], axis=1)[:, :row]
        return codes.reshape(rows.shape[0], -1)[:, :row], fields.reshape(len(x), self._beats, self._lanes)[:, :, 0]

    def _pack(self, codes, scales):
        bits = self._v["bits"]
        lanes = (codes[..., None] >> np.arange(bits)) & 1
        beat = lanes.reshape(*codes.shape[:2], -1)
        if scales is not None:
            fields = scales[..., None].astype(np.int64) >> np.arange(self._v["scale_bits"]) & 1
            beat = np.concatenate([beat, fields], axis=2)
        return np.packbits(beat.astype(np.uint8), axis=2, bitorder="little").reshape(len(codes), -1)

    def decode(self, frames, codes=False):
        """The array of frames, one a row: values as float32 (float64 where codes have more than 24 bits), or codes."""
        v, n, bits = self._v, len(frames), self._v["bits"]
        beat = np.unpackbits(np.asarray(frames, np.uint8).reshape(n, self._beats, -1), axis=2, bitorder="little")
        lanes = beat[:, :, :self._lanes * bits].reshape(n, -1, bits).astype(np.int64)
        c = (lanes << np.arange(bits)).sum(axis=2)
        if self._signed and bits < 64:
            c -= (c >> (bits - 1) & 1) << bits
        if not codes:
            c = self._values(c, beat)
        c = c.reshape((n,) + self._stream)
        return c if self._perm is None else c.transpose([0] + [1 + p for p in self._perm])

    def _values(self, c, beat):
        v = self._v
        if v["kind"] == "code":
            raise Error(f"{self.name}: codes of {self.format} are not converted here: take codes=True")
        if v["kind"] == "table":
            return np.array(v["table"], np.float64)[c & (len(v["table"]) - 1)].astype(np.float32)
        x = (c - v["zero"]).astype(np.float64) * v["scale"]
        if v["kind"] == "block":
            at = self._lanes * v["bits"]
            fields = (beat[:, :, at:at + v["scale_bits"]].astype(np.int64) << np.arange(v["scale_bits"])).sum(axis=2)
            factor = np.ldexp(1.0, fields - v["scale_bias"])
            factor[fields == 2 ** v["scale_bits"] - 1] = np.nan
            x = x * np.repeat(factor, self._lanes, axis=1)
        return x if v["bits"] > 24 else x.astype(np.float32)


inputs = [Port(p) for p in _facts["ports"] if p["direction"] == "in"]
outputs = [Port(p) for p in _facts["ports"] if p["direction"] == "out"]


# ---- backends ----

class _Buffer:
    def __init__(self, array, address):
        self.array, self.address = array, address


class _Memory:
    """Parts of one memory that is mapped."""

    def __init__(self, whole, address):
        self._whole, self._address, self._used = whole, address, 0

    def allocate(self, size):
        at, end = self._used, self._used + -(-size // 64) * 64
        if end > len(self._whole):
            raise Error(f"not enough memory for DMA: {len(self._whole)} bytes")
        self._used = end
        return _Buffer(self._whole[at:at + size], self._address + at)

    def flush(self, buffer):
        pass

    def invalidate(self, buffer):
        pass


class System(_Memory):
    """The simulated system of ../system: its socket."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        with open(path + ".mem", "r+b") as f:
            super().__init__(np.frombuffer(mmap.mmap(f.fileno(), 0), np.uint8), 0x800000000)

    def _ask(self, what, device, offset, value=0):
        self._socket.sendall(struct.pack("<4I", what, device, offset, value))
        reply = b""
        while len(reply) < 8:
            more = self._socket.recv(8 - len(reply))
            if not more:
                raise Error("the simulated system has gone")
            reply += more
        status, value = struct.unpack("<2I", reply)
        if status:
            raise Error(f"device {device} answers with an error at {offset:#x}")
        return value

    def read(self, device, offset):
        return self._ask(0, device, offset)

    def write(self, device, offset, value):
        self._ask(1, device, offset, value)

    def wait(self):
        self._ask(2, 0, 0, 1000)


class Linux(_Memory):
    """The UIO files of the design and of each AXI DMA, then the file of u-dma-buf."""

    def __init__(self, *files, sysfs="/sys"):
        *devices, memory = files
        self._files = [os.open(f, os.O_RDWR) for f in devices]
        self._registers = [np.frombuffer(mmap.mmap(f, 4096), np.uint32) for f in self._files]
        facts = os.path.join(sysfs, "class/u-dma-buf", os.path.basename(memory))
        with open(os.path.join(facts, "phys_addr")) as a, open(os.path.join(facts, "size")) as b:
            address, size = int(a.read(), 16), int(b.read())
        fd = os.open(memory, os.O_RDWR | os.O_SYNC)
        super().__init__(np.frombuffer(mmap.mmap(fd, size), np.uint8), address)
        os.close(fd)

    def read(self, device, offset):
        return int(self._registers[device][offset // 4])

    def write(self, device, offset, value):
        self._registers[device][offset // 4] = value

    def wait(self):
        os.write(self._files[0], struct.pack("=I", 1))
        if select.select([self._files[0]], [], [], 0.001)[0]:
            os.read(self._files[0], 4)


class Pynq:
    """An overlay of PYNQ: the file of the bitstream, or an Overlay. design names the design in it, dmas the AXI DMAs;
    without dmas they are taken in the order of their names."""

    def __init__(self, overlay, design=None, dmas=None):
        import pynq
        self._pynq = pynq
        if isinstance(overlay, (str, os.PathLike)):
            overlay = pynq.Overlay(os.fspath(overlay))
        blocks = overlay.ip_dict
        names = [n for n in blocks if "NAME_axi" in blocks[n].get("type", "")] if design is None else [design]
        engines = sorted(n for n in blocks if ":axi_dma:" in blocks[n].get("type", "")) if dmas is None else list(dmas)
        count = max(len(inputs), len(outputs))
        if len(names) != 1 or len(engines) != count:
            raise Error(f"the overlay has designs {names}, AXI DMAs {engines}: name one by design=, {count} by dmas=")
        self._devices = [pynq.MMIO(blocks[n]["phys_addr"], blocks[n]["addr_range"]) for n in names + engines]

    def read(self, device, offset):
        return self._devices[device].read(offset)

    def write(self, device, offset, value):
        self._devices[device].write(offset, value)

    def allocate(self, size):
        array = self._pynq.allocate(shape=(size,), dtype=np.uint8)
        return _Buffer(array, array.device_address)

    def flush(self, buffer):
        buffer.array.flush()

    def invalidate(self, buffer):
        buffer.array.invalidate()

    def wait(self):
        pass


# ---- runs ----

# Channels of an AXI DMA, registers of one, and bits: AMD's PG021.
_TO_STREAM, _TO_MEMORY = 0x00, 0x30
_CONTROL, _STATUS, _ADDRESS, _ADDRESS_HIGH, _LENGTH = 0x00, 0x04, 0x18, 0x1c, 0x28
_RUN, _RESET, _DONE, _FAULTS = 1, 4, 1 << 12, 0x70


class Model:
    """The design behind a backend. patience is how often run looks for news in vain before it gives up."""

    def __init__(self, backend, patience=100_000):
        self.backend, self.patience = backend, patience
        found = self.register("id_high") << 32 | self.register("id_low")
        if found != int(_map["design_id"], 16):
            raise Error(f"another design, {found:016x}, is in the device: load the bitstream of {_map['design_id']}")
        self._buffers = {p: [backend.allocate(p.frame_bytes) for _ in range(2)] for p in inputs + outputs}
        # (port, device, channel)
        self._in = [(p, 1 + i, _TO_STREAM) for i, p in enumerate(inputs)]
        self._out = [(p, 1 + i, _TO_MEMORY) for i, p in enumerate(outputs)]
        self.reset()

    def register(self, name, value=None):
        """Reads a register of ../registers.json by its name, or writes it."""
        if value is None:
            return self.backend.read(0, REGISTERS[name])
        return self.backend.write(0, REGISTERS[name], value)

    def _settle(self, device, offset, bits):
        for _ in range(10_000):
            if self.backend.read(device, offset) & bits == 0:
                return
        raise Error(f"device {device} stays in reset")

    def reset(self):
        """Resets design and engines; frames that are inside are lost."""
        b = self.backend
        for _, device, channel in self._in + self._out:
            b.write(device, channel + _CONTROL, _RESET)
            self._settle(device, channel + _CONTROL, _RESET)
        self.register("control", _BITS["control", "reset"])
        self._settle(0, REGISTERS["status"], _BITS["status", "in_reset"])
        self.register("errors", 0xffffffff)
        self.register("interrupt_status", 0xffffffff)
        self.register("interrupt_enable", _BITS["interrupt_enable", "frame"] | _BITS["interrupt_enable", "error"])
        self.register("limit", _facts["timeout"])
        for _, device, channel in self._in + self._out:
            b.write(device, channel + _CONTROL, _RUN)
        self.register("control", _BITS["control", "run"])

    def run(self, *arrays, codes=False):
        """Computes samples. Arrays are those of the inputs in order, with one more axis in front that counts samples;
        returns the array of the output, or a list of several. codes=True takes and gives integer codes."""
        if len(arrays) != len(inputs):
            raise Error(f"{len(inputs)} inputs: {', '.join(p.name for p in inputs)}")
        results = self.run_frames([p.encode(a, codes) for p, a in zip(inputs, arrays)])
        values = [p.decode(r, codes) for p, r in zip(outputs, results)]
        return values[0] if len(values) == 1 else values

    def run_frames(self, frames):
        """The frames of each output for those of each input, one a row, as Port.encode and Port.decode have them."""
        samples = len(frames[0])
        results = [np.zeros((samples, p.frame_bytes), np.uint8) for p in outputs]
        try:
            self._run(samples, frames, results)
        except Error:
            self.reset()
            raise
        return results

    def _start(self, device, channel, buffer):
        b = self.backend
        b.write(device, channel + _ADDRESS, buffer.address & 0xffffffff)
        b.write(device, channel + _ADDRESS_HIGH, buffer.address >> 32)
        b.write(device, channel + _LENGTH, len(buffer.array))  # which starts the transfer

    def _finished(self, device, channel):
        status = self.backend.read(device, channel + _STATUS)
        if status & _FAULTS:
            raise Error(f"AXI DMA {device - 1} reports the error {status & _FAULTS:#x}")
        if status & _DONE:
            self.backend.write(device, channel + _STATUS, _DONE)
        return status & _DONE != 0

    def _run(self, samples, frames, results):
        b, quiet = self.backend, 0
        sent, got = [[0, 0] for _ in inputs], [[0, 0] for _ in outputs]  # transfers: begun, ended
        while min(ended for _, ended in got) < samples:
            news = False
            for (p, device, channel), at, rows in zip(self._in, sent, frames):
                if at[0] > at[1]:
                    if not self._finished(device, channel):
                        continue
                    at[1], news = at[1] + 1, True
                # two samples at most are under way: there are two buffers
                if at[0] < samples and at[0] < min(ended for _, ended in got) + 2:
                    buffer = self._buffers[p][at[0] % 2]
                    buffer.array[:] = rows[at[0]]
                    b.flush(buffer)
                    at[0], news = at[0] + 1, True
                    self._start(device, channel, buffer)
            for (p, device, channel), at, rows in zip(self._out, got, results):
                if at[0] > at[1]:
                    if not self._finished(device, channel):
                        continue
                    if (length := b.read(device, channel + _LENGTH)) != p.frame_bytes:
                        raise Error(f"{p.name} has {length} bytes, not {p.frame_bytes}")
                    buffer = self._buffers[p][at[1] % 2]
                    b.invalidate(buffer)
                    rows[at[1]] = buffer.array
                    at[1], news = at[1] + 1, True
                if at[0] < samples:
                    at[0] += 1
                    self._start(device, channel, self._buffers[p][(at[0] - 1) % 2])
            quiet = 0 if news else quiet + 1
            if quiet:
                self._watch(quiet)
        if errors := self.register("errors"):
            raise Error(f"the design reports errors: {self._named(errors)}")

    def _named(self, errors):
        return ", ".join(f for (r, f), bit in _BITS.items() if r == "errors" and errors & bit)

    def _watch(self, quiet):
        errors = self.register("errors")
        if errors:
            raise Error(f"the design reports errors: {self._named(errors)}")
        if quiet > self.patience:
            raise Error("no result came in time")
        self.backend.wait()
        self.register("interrupt_status", _BITS["interrupt_status", "frame"])


def _main(kind, names, samples, results):
    backend = {"--system": System, "--linux": Linux}[kind](*names.split(","))
    sizes = [int(np.prod(p.shape, dtype=np.int64)) for p in inputs]
    values = np.split(np.fromfile(samples, np.float32).reshape(-1, sum(sizes)), np.cumsum(sizes)[:-1], axis=1)
    model = Model(backend)
    frames = [p.encode(v.reshape((-1,) + p.shape)) for p, v in zip(inputs, values)]
    got = model.run_frames(frames)
    want = np.fromfile(results, np.uint8).reshape(len(got[0]), -1)
    want = np.split(want, np.cumsum([p.frame_bytes for p in outputs])[:-1], axis=1)
    pairs = [(p.decode(a, codes=True), p.decode(b, codes=True)) for p, a, b in zip(outputs, got, want)]
    wrong, compared = sum(int((a != b).sum()) for a, b in pairs), sum(a.size for a, _ in pairs)
    if outputs[0].converts:
        labels = outputs[0].decode(got[0]).reshape(len(got[0]), -1).argmax(axis=1)
        print("labels", *labels[:32], *["..."] * (len(labels) > 32))
    print(f"{len(got[0])} samples, {compared} codes compared, {wrong} mismatches")
    return wrong > 0


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[1] not in ("--system", "--linux"):
        sys.exit(__doc__)
    sys.exit(_main(*sys.argv[1:]))
