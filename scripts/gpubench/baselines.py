#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times PyTorch on the cases of the kernel library, by the protocol of package bench, where PyTorch and a GPU are.

Reads the lines of `gpubench list -json` from standard input, writes JSON lines to standard output: first
{"gemm_tf": x}, the rate of a bf16 product of 8192^3 with random data, then {"case": c, "name": n, "us": t} for each
case that PyTorch has something for. Operands rotate so that the L2 cache does not hold them; short work, and work
of several kernels, is timed as a graph.
"""
import argparse
import json
import math
import re
import sys
import time

import torch
import torch.nn.functional as F
from torch.nn.attention.bias import causal_lower_right

DEV = "cuda"
BF16 = torch.bfloat16


def rand(*shape):
    return torch.randn(*shape, device=DEV, dtype=torch.float32).to(BF16)


def elapsed(before, work):
    """The time of work in us, behind before, which keeps the device busy meanwhile."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    before()
    start.record()
    work()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1e3


def median(work, parts):
    total, runs = 0.0, 0
    while runs < 10 or total < 25e3:
        total += elapsed(work, work)
        runs += 1
    times, total = [], 0.0
    while len(times) < 10 or len(times) < 50 and total < 100e3:
        us = elapsed(work, work)
        total += us
        times.append(us / parts)
    return sorted(times)[len(times) // 2]


def measure(make, call, size, several=False):
    """The median time of call over operands that make returns, of size bytes a set. Long work is timed launch by
    launch, unless it is several kernels, between which the host would be timed too."""
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    count = max(2, min(64, -(-2 * l2 // max(size, 1))))
    sets = [make() for _ in range(count)]
    turn = [0]

    def launch():
        turn[0] += 1
        call(*sets[turn[0] % count])

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):  # also compiles, and lets libraries choose their kernels
            launch()
        torch.cuda.synchronize()
        long = elapsed(launch, launch) >= 50
        if long and not several:
            return median(launch, 1)
        parts = count if long else -(-max(20, count) // count) * count
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(parts):
                launch()
        return median(graph.replay, parts)


def dequantize(n, out):
    """MXINT8 to words of out by the formula: q * 2^(x-133) with a scale for each 32 elements."""

    def formula(q, x):
        return (q.view(-1, 32).to(torch.float32) * torch.exp2(x.to(torch.float32) - 133).unsqueeze(1)).to(out)

    def make():
        q = torch.randint(-127, 128, (n,), device=DEV, dtype=torch.int8)
        return q, torch.randint(120, 134, (n // 32,), device=DEV, dtype=torch.uint8)

    size = n + n // 32 + n * out.itemsize
    if n % 32 == 0:
        yield "torch.compile of the formula", make, torch.compile(formula), size


def linear(m, n, k):
    def make():
        return rand(m, k), rand(n, k)

    yield "torch linear, bf16 weights", make, F.linear, 2 * (m * k + n * k + m * n)


def rows_of(kernel, rows, cols):
    size = 4 * rows * cols
    make_x = lambda: (rand(rows, cols),)  # noqa: E731
    if kernel.startswith("softmax"):
        work, make = (lambda x: torch.softmax(x, 1)), make_x
    elif kernel.startswith("layer_norm"):
        work = lambda x, g, b: F.layer_norm(x, (cols,), g, b)  # noqa: E731
        make = lambda: (rand(rows, cols), rand(cols), rand(cols))  # noqa: E731
    elif kernel.startswith("rms_norm"):
        work = lambda x, g: F.rms_norm(x, (cols,), g, 1e-5)  # noqa: E731
        make = lambda: (rand(rows, cols), rand(cols))  # noqa: E731
    else:
        return
    yield "torch", make, work, size
    yield "torch.compile", make, torch.compile(work), size


def products_of_bytes(m, n, k):
    def make():
        x, w = (torch.randint(-127, 128, shape, device=DEV, dtype=torch.int8) for shape in [(m, k), (n, k)])
        return x, w.t()

    if m > 16 and n % 8 == 0 and k % 8 == 0:  # what it takes; sums of 32 bits, which nothing requantizes
        yield "torch._int_mm, no requantization", make, torch._int_mm, m * k + n * k + 4 * m * n


def attention(b, heads, kv, queries, keys, d, causal):
    """Attention of `heads` heads over `kv` heads of keys; causal as in the names of cases: 0, 1 from the first key on,
    2 up to the last."""

    def make():
        return rand(b, heads, queries, d), rand(b, kv, keys, d), rand(b, kv, keys, d)

    options = {"enable_gqa": True} if heads != kv else {}
    if causal == 2 and queries != keys:
        options["attn_mask"] = causal_lower_right(queries, keys)
    elif causal:
        options["is_causal"] = True
    work = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **options)  # noqa: E731
    yield "torch sdpa", make, work, 4 * b * d * (heads * queries + kv * keys)


def heads(x, count):
    return x.view(*x.shape[:2], count, -1).transpose(1, 2)


def bert_base(batch, tokens):
    """One layer of BERT-base behind the embedding of positions: operands and function."""
    hidden, inner = 768, 3072
    shapes = [(tokens, hidden), (1, hidden), (3 * hidden, hidden), (hidden, hidden), (inner, hidden), (hidden, inner)]
    sizes = [3 * hidden, hidden, inner, hidden] + 6 * [hidden]

    def work(x, pos, kind, qkv, out, up, down, b_qkv, b_out, b_up, b_down, g0, b0, g1, b1, g2, b2):
        x = F.layer_norm(x + pos + kind, (hidden,), g0, b0, 1e-12)
        q, k, v = (heads(part, 12) for part in F.linear(x, qkv, b_qkv).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = F.layer_norm(x + F.linear(y, out, b_out), (hidden,), g1, b1, 1e-12)
        y = F.linear(F.gelu(F.linear(x, up, b_up)), down, b_down)
        return F.layer_norm(x + y, (hidden,), g2, b2, 1e-12)

    return [(batch, tokens, hidden)] + shapes + [(n,) for n in sizes], work


def llama_8b(batch, tokens):
    """One layer of Llama 3 8B and the norm behind the last layer: operands and function."""
    hidden, inner, dim = 4096, 14336, 128
    shapes = [(6144, hidden), (hidden, hidden), (2 * inner, hidden), (hidden, inner), (hidden,), (hidden,), (hidden,)]

    def turn(x, cos, sin):
        low, high = x.chunk(2, -1)
        return x * cos + torch.cat((-high, low), -1) * sin

    def work(x, cos, sin, qkv, out, gate_up, down, g1, g2, g3):
        q, k, v = F.linear(F.rms_norm(x, (hidden,), g1, 1e-5), qkv).split((hidden, 1024, 1024), -1)
        q, k, v = turn(heads(q, 32), cos, sin), turn(heads(k, 8), cos, sin), heads(v, 8)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + F.linear(y.transpose(1, 2).flatten(2), out)
        gate, up = F.linear(F.rms_norm(x, (hidden,), g2, 1e-5), gate_up).chunk(2, -1)
        return F.rms_norm(x + F.linear(F.silu(gate) * up, down), (hidden,), g3, 1e-5)

    return [(batch, tokens, hidden), (tokens, dim), (tokens, dim)] + shapes, work


def layer(name, batch, tokens):
    shapes, work = {"bert-base": bert_base, "llama-8b": llama_8b}[name](batch, tokens)
    make = lambda: tuple(rand(*s) for s in shapes)  # noqa: E731
    size = 2 * sum(math.prod(s) for s in shapes)
    yield "torch", make, work, size
    yield "torch.compile", make, torch.compile(work, mode="max-autotune-no-cudagraphs"), size


def baselines(case):
    """What PyTorch has for a case: name, operands, function, bytes."""
    kernel, shape, formats = case["kernel"], case["shape"], case["formats"]
    if m := re.fullmatch(r"n=(\d+)", shape):
        if kernel == "dequant":
            yield from dequantize(int(m[1]), BF16 if formats.endswith("bf16") else torch.float32)
    elif m := re.fullmatch(r"M=(\d+) N=(\d+) K=(\d+)", shape):
        yield from linear(*map(int, m.groups()))
        if kernel.startswith("int8"):
            yield from products_of_bytes(*map(int, m.groups()))
    elif m := re.fullmatch(r"(\d+) rows of (\d+)", shape):
        if not case["case"].startswith("add+"):  # PyTorch has no such function
            yield from rows_of(kernel, int(m[1]), int(m[2]))
    elif m := re.fullmatch(r"batch (\d+), heads (\d+)/(\d+), (\d+) queries, (\d+) keys, dimension (\d+)", shape):
        yield from attention(*map(int, m.groups()), int(re.search(r"/causal=(\d)", case["case"])[1]))
    elif m := re.fullmatch(r"batch (\d+), heads (\d+)/(\d+), (\d+) keys in \d+ parts, dimension (\d+)", shape):
        b, h, kv, keys, d = map(int, m.groups())
        yield from attention(b, h, kv, 1, keys, d, 0)
    elif m := re.match(r"layer/([^/]+)/batch=(\d+)", case["case"]):
        yield from layer(m[1], int(m[2]), int(re.search(r"tokens=(\d+)", shape)[1]))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--limit", type=float, default=150, help="seconds after which no case is begun")
    p.add_argument("--match", action="store_true", help="only name the cases that have a baseline")
    options = p.parse_args()
    if options.match:
        for case in map(json.loads, sys.stdin):
            if case["timed"] and any(True for _ in baselines(case)):
                print(case["case"])
        return
    limit = time.monotonic() + options.limit
    a, b = rand(8192, 8192), rand(8192, 8192)
    us = measure(lambda: (a, b), torch.matmul, 3 * 2 * 8192**2)
    print(json.dumps({"gemm_tf": 2 * 8192**3 / us * 1e-6}), flush=True)
    del a, b
    for line in sys.stdin:
        case = json.loads(line)
        if not case["timed"] or time.monotonic() > limit:
            continue
        try:
            for name, make, work, size in baselines(case):
                us = measure(make, work, size, several=case["case"].startswith("layer/"))
                print(json.dumps({"case": case["case"], "name": name, "us": us}), flush=True)
        except RuntimeError as e:  # out of memory, a kernel that a version lacks: the others still count
            print(f"{case['case']}: {str(e).splitlines()[0]}", file=sys.stderr)
        torch.cuda.empty_cache()


main()
