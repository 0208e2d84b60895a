# SPDX-License-Identifier: Apache-2.0
"""What system.c does, in Python: through the system itself, and through what stands for PYNQ in it. Arguments: the folder
of the driver, and the socket."""

import sys
import types

sys.path.insert(0, sys.argv[1])
import numpy as np
import twins_driver as t


def refused(what, *words):
    try:
        what()
    except t.Error as e:
        assert all(w in str(e) for w in words), e
        return
    sys.exit(f"no error: {words}")


r = np.random.default_rng(1)


def draw(n):
    return [r.integers(0, 128, (n, 6)), r.integers(0, 1 << 24, (n, 2))]


def check(model, n=20):
    x = draw(n)
    y = model.run(*x, codes=True)
    assert (y[0] == (x[0] + 1 & 255)).all() and (y[1] == (1 << 24) - 1 - x[1]).all()
    y = model.run(*x)
    assert y[0].dtype == np.float32 and (y[0] == (x[0] + 1 & 255)).all()


system = t.System(sys.argv[2])
model = t.Model(system)
check(model)
x = draw(5)
x[0][4, 0] = 0xee
refused(lambda: model.run(*x, codes=True), "stalled")
check(model)
x[0][4, 0], x[0][1, 0] = 1, 0xef
refused(lambda: model.run(*x, codes=True), "AXI DMA 0 reports")
check(model)
refused(lambda: model.run(x[0]), "2 inputs")
refused(lambda: system.read(0, 0x80), "0x80")
refused(lambda: system.allocate(1 << 25), "not enough memory")
held, t._map["design_id"] = t._map["design_id"], "0" * 16
refused(lambda: t.Model(system), "another design", held)
t._map["design_id"] = held


# PYNQ, as far as it is used.
class MMIO:
    def __init__(self, base, length):
        self.device, self.length = base >> 16, length

    def read(self, offset):
        assert offset < self.length
        return system.read(self.device, offset)

    def write(self, offset, value):
        assert offset < self.length
        system.write(self.device, offset, value)


class Array(np.ndarray):
    flushed = 0

    def flush(self):
        Array.flushed += 1

    invalidate = flush


def allocate(shape, dtype):
    buffer = system.allocate(int(np.prod(shape)) * np.dtype(dtype).itemsize)
    array = buffer.array.view(Array)
    array.device_address = buffer.address
    return array


class Overlay:
    def __init__(self, path):
        assert path == "design.bit"
        self.ip_dict = {"axi_dma_1": {"type": "xilinx.com:ip:axi_dma:7.1", "phys_addr": 2 << 16, "addr_range": 0x60},
                        "net": {"type": "user.org:lathe:twins_axi:1.0", "phys_addr": 0, "addr_range": 256},
                        "axi_dma_0": {"type": "xilinx.com:ip:axi_dma:7.1", "phys_addr": 1 << 16, "addr_range": 0x60}}


sys.modules["pynq"] = types.SimpleNamespace(MMIO=MMIO, allocate=allocate, Overlay=Overlay)
check(t.Model(t.Pynq("design.bit")))
check(t.Model(t.Pynq(Overlay("design.bit"), design="net", dmas=["axi_dma_0", "axi_dma_1"])))
assert Array.flushed > 80
refused(lambda: t.Pynq("design.bit", dmas=["axi_dma_0"]), "axi_dma_0", "by dmas=")
