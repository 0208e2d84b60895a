# SPDX-License-Identifier: Apache-2.0
"""Compiles the kernels below with Triton to PTX, without a GPU: test data that our own compiler has no part in.

    python3 -m venv /tmp/triton && /tmp/triton/bin/pip install -r requirements.txt && /tmp/triton/bin/python make.py

writes testdata/<kernel>.sm_<number>.ptx and, in its first lines, the block and the shared memory of a launch.
"""
import os
import pathlib

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

PINNED = "3.9.0"


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WHOLE: tl.constexpr):
    """c[M, N] = a[M, K] b[K, N] by pointers, rows and columns beyond the matrices masked."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), dtype=tl.int32 if WHOLE else tl.float32)
    for k in range(0, K, BK):
        left = tl.load(a + rows[:, None] * K + k + depth[None, :],
                       mask=(rows < M)[:, None] & (k + depth < K)[None, :], other=0)
        right = tl.load(b + (k + depth)[:, None] * N + cols[None, :],
                        mask=(k + depth < K)[:, None] & (cols < N)[None, :], other=0)
        sums = tl.dot(left, right, sums, out_dtype=sums.dtype)
    inside = (rows < M)[:, None] & (cols < N)[None, :]
    tl.store(c + rows[:, None] * N + cols[None, :], sums.to(c.dtype.element_ty), mask=inside)


@triton.jit
def matmul_boxes(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c[M, N] = a[M, K] b[N, K]^T by boxes of tensor maps."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        sums = tl.dot(a.load([row, k]), b.load([col, k]).T, sums)
    c.store([row, col], sums.to(c.dtype))


@triton.jit
def matmul_columns(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c[M, N] = a[K, M]^T b[K, N]: both operands have their rows along memory."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        sums = tl.dot(a.load([k, row]).T, b.load([k, col]), sums)
    c.store([row, col], sums.to(c.dtype))


@triton.jit
def matmul_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """matmul_boxes by fewer blocks than there are tiles."""
    wide = tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * wide, tl.num_programs(0)):
        row, col = tile // wide * BM, tile % wide * BN
        sums = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            sums = tl.dot(a.load([row, k]), b.load([col, k]).T, sums)
        c.store([row, col], sums.to(c.dtype))


@triton.jit
def attention(q, k, v, o, N, scale, D: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr, CAUSAL: tl.constexpr):
    """o = softmax(scale q k^T) v for each head of [heads, N, D]; the running maximum is kept in powers of two."""
    head = tl.program_id(1).to(tl.int64) * N * D
    rows = tl.program_id(0) * BQ + tl.arange(0, BQ)
    lanes = tl.arange(0, D)
    queries = tl.load(q + head + rows[:, None] * D + lanes[None, :], mask=(rows < N)[:, None], other=0)
    peak = tl.full((BQ,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BQ,), dtype=tl.float32)
    mixed = tl.zeros((BQ, D), dtype=tl.float32)
    last = tl.minimum(N, (tl.program_id(0) + 1) * BQ) if CAUSAL else N
    for j in range(0, last, BK):
        cols = j + tl.arange(0, BK)
        keys = tl.load(k + head + cols[:, None] * D + lanes[None, :], mask=(cols < N)[:, None], other=0)
        scores = tl.dot(queries, keys.T) * (scale * 1.4426950408889634)
        allowed = (cols < N)[None, :]
        if CAUSAL:
            allowed = allowed & (cols[None, :] <= rows[:, None])
        scores = tl.where(allowed, scores, -float("inf"))
        higher = tl.maximum(peak, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(peak - higher)
        values = tl.load(v + head + cols[:, None] * D + lanes[None, :], mask=(cols < N)[:, None], other=0)
        total = total * shrink + tl.sum(weights, 1)
        mixed = tl.dot(weights.to(values.dtype), values, mixed * shrink[:, None])
        peak = higher
    mixed = mixed / total[:, None]
    tl.store(o + head + rows[:, None] * D + lanes[None, :], mixed.to(o.dtype.element_ty), mask=(rows < N)[:, None])


@triton.jit
def attention_boxes(q, k, v, o, N, scale, D: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr):
    """attention by boxes of [heads * N, D], N a multiple of the tiles."""
    first = tl.program_id(1) * N
    queries = q.load([first + tl.program_id(0) * BQ, 0])
    peak = tl.full((BQ,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BQ,), dtype=tl.float32)
    mixed = tl.zeros((BQ, D), dtype=tl.float32)
    for j in range(0, N, BK):
        scores = tl.dot(queries, k.load([first + j, 0]).T) * (scale * 1.4426950408889634)
        higher = tl.maximum(peak, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(peak - higher)
        total = total * shrink + tl.sum(weights, 1)
        mixed = tl.dot(weights.to(tl.bfloat16), v.load([first + j, 0]), mixed * shrink[:, None])
        peak = higher
    o.store([first + tl.program_id(0) * BQ, 0], (mixed / total[:, None]).to(tl.bfloat16))


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    """y[r, :n] = softmax(x[r, :n]), a row a block."""
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * n
    v = tl.load(x + row + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row + at, e / tl.sum(e, 0), mask=at < n)


@triton.jit
def layer_norm(x, gain, bias, y, n, eps, BLOCK: tl.constexpr):
    """y[r] = (x[r] - mean) / sqrt(variance + eps) * gain + bias, a row a block."""
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * n
    v = tl.load(x + row + at, mask=at < n, other=0.0)
    mean = tl.sum(v, 0) / n
    d = tl.where(at < n, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, 0) / n + eps)
    g = tl.load(gain + at, mask=at < n, other=0.0)
    tl.store(y + row + at, d * scale * g + tl.load(bias + at, mask=at < n, other=0.0), mask=at < n)


def pointers(types, *scalars):
    return [("*" + t) for t in types.split()] + list(scalars)


def columns(n):
    return ["tensordesc<bf16[64,64]>", f"tensordesc<bf16[64,{n}]>", f"tensordesc<bf16[64,{n}]>", "i32"]


TILE = {"BM": 64, "BN": 64, "BK": 64}
BOXES = ["tensordesc<bf16[64,64]>"] * 3
BOTH, HOPPER = (80, 90), (90,)
FLASH = {"D": 64, "BQ": 64, "BK": 64}

# Name, function, arguments, constants, options, architectures.
KERNELS = [
    ("matmul", matmul, pointers("bf16 bf16 bf16", "i32", "i32", "i32"), {**TILE, "BK": 32, "WHOLE": False},
     {"num_warps": 4, "num_stages": 3}, BOTH),
    ("matmul_int8", matmul, pointers("i8 i8 i32", "i32", "i32", "i32"), {**TILE, "WHOLE": True},
     {"num_warps": 4, "num_stages": 2}, BOTH),
    ("matmul_boxes", matmul_boxes, BOXES + ["i32"], TILE, {"num_warps": 4, "num_stages": 3}, HOPPER),
    ("matmul_columns", matmul_columns, BOXES + ["i32"], TILE, {"num_warps": 4, "num_stages": 2}, HOPPER),
    ("matmul_wide", matmul_boxes,
     ["tensordesc<bf16[128,64]>", "tensordesc<bf16[128,64]>", "tensordesc<bf16[128,128]>", "i32"],
     {"BM": 128, "BN": 128, "BK": 64}, {"num_warps": 8, "num_stages": 3}, HOPPER),
    ("matmul_narrow", matmul_boxes,
     ["tensordesc<fp16[64,16]>", "tensordesc<fp16[32,16]>", "tensordesc<fp16[64,32]>", "i32"],
     {"BM": 64, "BN": 32, "BK": 16}, {"num_warps": 4, "num_stages": 2}, HOPPER),
    ("matmul_shallow", matmul_boxes,
     ["tensordesc<bf16[64,32]>", "tensordesc<bf16[64,32]>", "tensordesc<bf16[64,64]>", "i32"],
     {"BM": 64, "BN": 64, "BK": 32}, {"num_warps": 4, "num_stages": 3}, HOPPER),
    ("matmul_columns_32", matmul_columns, columns(32), {"BM": 64, "BN": 32, "BK": 64},
     {"num_warps": 4, "num_stages": 2}, HOPPER),
    ("matmul_columns_16", matmul_columns, columns(16), {"BM": 64, "BN": 16, "BK": 64},
     {"num_warps": 4, "num_stages": 2}, HOPPER),
    ("matmul_columns_8", matmul_columns, columns(8), {"BM": 64, "BN": 8, "BK": 64},
     {"num_warps": 4, "num_stages": 2}, HOPPER),
    ("matmul_persistent", matmul_persistent, BOXES + ["i32", "i32", "i32"], TILE,
     {"num_warps": 4, "num_stages": 3}, HOPPER),
    ("attention", attention, pointers("bf16 bf16 bf16 bf16", "i32", "fp32"), {**FLASH, "CAUSAL": False},
     {"num_warps": 4, "num_stages": 2}, BOTH),
    ("attention_causal", attention, pointers("fp16 fp16 fp16 fp16", "i32", "fp32"), {**FLASH, "CAUSAL": True},
     {"num_warps": 4, "num_stages": 2}, BOTH),
    ("attention_boxes", attention_boxes, ["tensordesc<bf16[64,64]>"] * 4 + ["i32", "fp32"], FLASH,
     {"num_warps": 4, "num_stages": 2}, HOPPER),
    ("softmax", softmax, pointers("fp32 fp32", "i32"), {"BLOCK": 1024}, {"num_warps": 4}, BOTH),
    ("layer_norm", layer_norm, pointers("fp32 fp32 fp32 fp32", "i32", "fp32"), {"BLOCK": 1024}, {"num_warps": 4}, BOTH),
]


def aligned(names, arguments):
    """Says that pointers, N and K are multiples of 16, as the launcher of Triton would find out."""
    return {(i,): [["tt.divisibility", 16]] for i, t in enumerate(arguments) if t[0] == "*" or names[i] in ("N", "K")}


def main():
    assert triton.__version__ == PINNED, f"Triton {triton.__version__}, not {PINNED}"
    folder = pathlib.Path(__file__).parent / "testdata"
    folder.mkdir(exist_ok=True)
    for name, function, arguments, constants, options, targets in KERNELS:
        signature = dict(zip(function.arg_names, arguments + ["constexpr"] * len(constants)))
        for sm in targets:
            source = ASTSource(function, signature, constants, attrs=aligned(function.arg_names, arguments))
            k = triton.compile(source, target=GPUTarget("cuda", sm, 32), options=options)
            text = "".join(line.split("//")[0].rstrip() + "\n" for line in k.asm["ptx"].splitlines()
                           if line.split("//")[0].strip())
            head = f"// Triton {PINNED}, {name}: {32 * k.metadata.num_warps} threads, "
            head += f"{k.metadata.shared} bytes of shared memory\n"
            for m in getattr(k.metadata, "tensordesc_meta", None) or []:
                head += f"// box {' x '.join(map(str, m['block_size']))}, swizzle {m['swizzle']}\n"
            path = folder / f"{name}.sm_{sm}.ptx"
            path.write_text(head + text)
            print(path.name, len(head + text))


main()
