# SPDX-License-Identifier: Apache-2.0
"""A design on a board, or on a simulated one."""

import os
import tempfile

from . import arrays, flags as flag
from .program import call


class Board:
    """A board for a Design, which Design.board returns. facts are those of the last run."""

    __module__ = "lathe"
    facts = None

    def __init__(self, design, name, arguments):
        self.design, self.name = design, name
        self._arguments = arguments

    def build(self, output, **flags):
        """Makes the bitstream in the file output and returns its facts: clock_mhz, margin_percent, route.

        flags are those of lathe board build: clock=50, seeds=4, timeout=600 (seconds).
        """
        return call("board", "build", self.design.folder, f"--board={self.name}", f"--output={os.fspath(output)}",
                    *flag.of(flags, ""))

    def run(self, inputs, port=None, *, codes=False, **flags):
        """Computes outputs as Design.run does, on the board at a serial port, or without one on a simulated board.

        flags are those of lathe board run: compare="ref" raises CheckFailed where a code differs, timeout=5 (seconds).
        """
        with tempfile.TemporaryDirectory(prefix="lathe-") as folder:
            out = os.path.join(folder, "outputs.npz")
            values = {"inputs": inputs, "codes": codes or None, **flags}
            values.update({"simulate": self.name} if port is None else {"port": port})
            self.facts = call("board", "run", *self._arguments, f"--output={out}", *flag.of(values, folder))
            return arrays.read(out)
