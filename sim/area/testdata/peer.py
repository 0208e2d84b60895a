# SPDX-License-Identifier: Apache-2.0
"""Has alkaid print the product of int8 inputs with a constant matrix as Verilog: peer.py MATRIX.json HARD_DC FOLDER.

The matrix has a row for each output. Prints alkaid's own estimates as JSON: processor seconds to solve, levels of the
longest path, cost (adder bits), and the cost with pairs of adders fused into ternary ones, which Vivado maps and Yosys
does not.
"""
import json
import sys
import time

import numpy as np
from alkaid.codegen import RTLModel
from alkaid.trace import FVArrayInput, HWConfig, trace
from alkaid.trace.passes import add_surrogate, dead_code_elimin, fuse_ternary_adders

with open(sys.argv[1]) as file:
    matrix = np.array(json.load(file), dtype=np.float32).T
# Levels of one adder and its carries, no registers.
inputs = FVArrayInput((matrix.shape[0],), HWConfig(1, -1, -1), solver_options={"hard_dc": int(sys.argv[2])})
start = time.process_time()
graph = trace(inputs, inputs.quantize(1, 7, 0) @ matrix)
seconds = time.process_time() - start
RTLModel(graph, sys.argv[3], "peer", ternary_fuse=False, print_latency=False).write()
fused = add_surrogate(dead_code_elimin(fuse_ternary_adders(graph)), _skip_op8_cost=True)
print(json.dumps({"Seconds": seconds, "Levels": max(graph.latency), "Cost": graph.cost, "Fused": fused.cost}))
