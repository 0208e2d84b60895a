# SPDX-License-Identifier: Apache-2.0
"""Compiles registers.rdl by systemrdl-compiler and compares it with registers.json; both are in the given folder."""

import json
import os
import sys

from systemrdl import RDLCompiler
from systemrdl.node import RegNode
from systemrdl.rdltypes import OnWriteType

compiler = RDLCompiler()
compiler.compile_file(os.path.join(sys.argv[1], "registers.rdl"))
have = {}
for node in compiler.elaborate().top.children():
    assert isinstance(node, RegNode) and node.get_property("regwidth") == 32
    reset = sum(f.get_property("reset") << f.low for f in node.fields())
    fields = [[f.inst_name, f.low, f.width, f.is_sw_writable, f.get_property("onwrite") == OnWriteType.woclr]
              for f in node.fields()]
    have[node.inst_name] = [node.address_offset, reset, fields]
with open(os.path.join(sys.argv[1], "registers.json"), encoding="utf-8") as f:
    registers = json.load(f)["registers"]
want = {}
for r in registers:
    fields = [["f_" + f["name"], f["bit"], 1] for f in r.get("fields", [])] or [["value", 0, 32]]
    fields = [f + [r["access"] != "ro", r["access"] == "w1c"] for f in sorted(fields, key=lambda f: f[1])]
    want[r["name"]] = [r["offset"], r["reset"], fields]
assert have == want, (have, want)
assert len(have) == 15
