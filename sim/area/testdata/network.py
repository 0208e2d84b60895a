# SPDX-License-Identifier: Apache-2.0
"""Has alkaid print a network of linear layers as pipelined Verilog.

    network.py NETWORK.json HARD_DC FOLDER LEVELS

Codes are integers; a value is its code times 2^-fraction. The network has the format of its input, and layers: weights
(a row for each output) with a fraction for each row, a bias for each row with fractions of its own, and the format of
the result (bits, signed, fraction), to which sums are rounded (round is floor, up or even) and saturate. An unsigned
result is that of a relu. Registers stand where alkaid puts them with a cutoff of so many levels, at both ends too.

Prints JSON: cycles from the registers of the input to those of the output, processor seconds to solve, where the
elements of input and output lie (bits, signed, fraction, first bit), and codes of the last format that alkaid's own
interpreter finds for samples, codes of the input.
"""
import json
import sys
import time

import numpy as np
from alkaid.codegen import RTLModel
from alkaid.trace import FVArrayInput, HWConfig, trace

with open(sys.argv[1]) as file:
    network = json.load(file)


def quantized(x, layer):
    count, fraction = x.shape[0], layer["fraction"]
    signed = int(layer["signed"])
    rounding = {"floor": "TRN", "up": "RND", "even": "RND_CONV"}[layer["round"]]
    if not signed and rounding != "RND_CONV":
        x, rounding = x.relu(f=np.full(count, fraction), round_mode=rounding), "TRN"
    form = (signed, layer["bits"] - signed - fraction, fraction)
    return x.quantize(*(np.full(count, v) for v in form), overflow_mode="SAT", round_mode=rounding)


def places(precisions):
    at, list_ = 0, []
    for signed, whole, fraction in precisions:
        bits = int(signed + whole + fraction)
        list_.append({"Bits": bits, "Signed": bool(signed), "Fraction": int(fraction), "At": at})
        at += bits
    return list_


first = network["input"]
levels = HWConfig(1, -1, -1)  # of one adder and its carries
inputs = FVArrayInput((len(network["layers"][0]["weights"][0]),), levels, solver_options={"hard_dc": int(sys.argv[2])})
start = time.process_time()
signed = int(first["signed"])
x = inputs.quantize(signed, first["bits"] - signed - first["fraction"], first["fraction"])
for layer in network["layers"]:
    rows = 2.0 ** -np.array(layer["fractions"])
    x = x @ (np.array(layer["weights"]) * rows[:, None]).T.astype(np.float32)
    if layer["bias"]:
        x = x + np.array(layer["bias"]) * 2.0 ** -np.array(layer["bias_fractions"])
    x = quantized(x, layer)
graph = trace(inputs, x)
model = RTLModel(graph, sys.argv[3], "peer", ternary_fuse=False, print_latency=False, latency_cutoff=float(sys.argv[4]))
seconds = time.process_time() - start
model.write()
samples = np.array(network["samples"]) * 2.0 ** -first["fraction"]
values = graph.predict(samples) * 2.0 ** network["layers"][-1]["fraction"]
print(json.dumps({
    "Cycles": int(model.latency), "Seconds": seconds, "In": places(model.fsm.inp_signals[0].precisions),
    "Out": places(model.fsm.out_signals[0].precisions), "Values": values.astype(np.int64).tolist()}))
