# SPDX-License-Identifier: Apache-2.0
"""NAME in its AXI shell, as a module for LiteX.

    self.net = NAME(platform)
    self.bus.add_slave("net", self.net.bus, SoCRegion(size=256, cached=False))

bus is the AXI4-Lite port of the registers that NAME_axi.h names, irq the interrupt, and STREAMS names the AXI4-Stream
endpoints: each frame is a packet, with keep and last. Made by lathe @VERSION@: do not edit.
"""

import os

from litex.build.xilinx.platform import XilinxPlatform
from litex.gen import ClockSignal, Instance, LiteXModule, ResetSignal, Signal
from litex.soc.interconnect import axi

# The endpoints: names, whether they take packets, and bits of TDATA.
STREAMS = [@STREAMS@]
AXI = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class NAME(LiteXModule):
    """The hardware, with its sources added to the platform.

    clock_domain drives streams and registers. core_domain drives the rest of a design that has two clocks.
    """

    def __init__(self, platform, clock_domain="sys", core_domain=@CORE@):
        lacking = "@LACKING@"
        if lacking:
            raise NotImplementedError("NAME: " + lacking)
        self.bus = axi.AXILiteInterface(data_width=32, address_width=32, clock_domain=clock_domain)
        self.irq = Signal()
        ports = {"i_ap_clk": ClockSignal(clock_domain), "i_ap_rst_n": ~ResetSignal(clock_domain), "o_irq": self.irq}
        if core_domain is not None:
            ports["i_core_clk"] = ClockSignal(core_domain)
        for channel, into in (("aw", True), ("w", True), ("b", False), ("ar", True), ("r", False)):
            self._connect(ports, "s_axi_" + channel, getattr(self.bus, channel), into,
                          {"aw": ["addr"], "w": ["data", "strb"], "b": ["resp"], "ar": ["addr"],
                           "r": ["data", "resp"]}[channel])
        for channel in ("aw", "ar"):  # of 256 bytes
            ports["i_s_axi_" + channel + "addr"] = getattr(self.bus, channel).addr[:8]
        for name, takes, bits in STREAMS:
            endpoint = axi.AXIStreamInterface(data_width=bits, clock_domain=clock_domain, name=name)
            setattr(self, name, endpoint)
            self._connect(ports, name + "_t", endpoint, takes, ["data", "keep", "last"])
        self.specials += Instance("NAME_axi", **ports)
        self._add_files(platform)

    @staticmethod
    def _connect(ports, prefix, endpoint, into, fields):
        """Adds the signals of a channel, which carries fields into the module, or out of it."""
        for field in fields + ["valid"]:
            ports[("i_" if into else "o_") + prefix + field] = getattr(endpoint, field)
        ports[("o_" if into else "i_") + prefix + "ready"] = endpoint.ready

    @staticmethod
    def _add_files(platform):
        with open(os.path.join(AXI, "sources.f"), encoding="utf-8") as f:
            for line in f:
                platform.add_source(os.path.join(os.path.dirname(AXI), line.strip()))
        # Vivado takes memory images as sources. Yosys finds them beside the source that names them; a simulator reads
        # them from the folder in which it runs: images() are what to copy there.
        if isinstance(platform, XilinxPlatform):
            for image in NAME.images():
                platform.add_source(image)

    @staticmethod
    def images():
        """The files of memory contents."""
        root = os.path.dirname(AXI)
        return [os.path.join(root, f) for f in sorted(os.listdir(root)) if f.endswith(".mem")]
