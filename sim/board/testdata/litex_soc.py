# SPDX-License-Identifier: Apache-2.0
"""A system of LiteX without a processor, with a design on its bus whose first output feeds its first input. Arguments: the
folder axi of the design, and its name. Writes gateware/sim.v."""

import importlib
import os
import sys

from litex.build.generic_platform import Pins
from litex.build.io import CRG
from litex.build.sim import SimPlatform
from litex.soc.integration.builder import Builder
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCCore

sys.path.insert(0, os.path.join(sys.argv[1], "driver"))
NAME = sys.argv[2]
MODULE = importlib.import_module(NAME + "_litex")


class System(SoCCore):
    def __init__(self):
        platform = SimPlatform("SIM", [("sys_clk", 0, Pins(1))])
        self.crg = CRG(platform.request("sys_clk"))
        SoCCore.__init__(self, platform, 1e6, cpu_type=None, uart_name="stub", integrated_sram_size=0)
        self.net = getattr(MODULE, NAME)(platform)
        self.bus.add_slave("net", self.net.bus, SoCRegion(origin=0x90000000, size=256, cached=False))
        sink, source = (getattr(self.net, next(n for n, takes, _ in MODULE.STREAMS if takes == t)) for t in (True, False))
        self.comb += source.connect(sink, keep={"valid", "ready", "last", "data", "keep"})


system = System()
try:
    Builder(system, output_dir=".", compile_software=False, compile_gateware=False).build(run=False)
except ImportError:
    pass  # the simulator of LiteX has more that is not needed for its Verilog
assert all(os.path.isfile(f) for f, *_ in system.platform.sources)
