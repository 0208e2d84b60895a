# SPDX-License-Identifier: Apache-2.0
"""torch_steps.py NETWORK BATCH THREADS: the seconds of a step of AdamW with cross-entropy, in PyTorch's eager mode.

The networks have the shapes of those of BenchmarkStep; weights and data are random, all data lie in memory.
"""
import sys
import time

import torch
from torch import nn

WARM, STEPS = 10, 60


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, mask):
        n, tokens, width = x.shape
        cut = lambda y: y.view(n, tokens, self.heads, -1).transpose(1, 2)
        y = nn.functional.scaled_dot_product_attention(cut(self.q(x)), cut(self.k(x)), cut(self.v(x)), attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(n, tokens, width))


class Bert(nn.Module):
    def __init__(self, words=2000, places=32, width=128, inner=144, heads=2, layers=2, classes=3):
        super().__init__()
        self.words, self.places, self.kinds = (nn.Embedding(n, width) for n in (words, places, 2))
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(nn.ModuleList([
            Attention(width, heads), nn.LayerNorm(width), nn.Linear(width, inner), nn.Linear(inner, width),
            nn.LayerNorm(width)]) for _ in range(layers))
        self.pooler, self.head = nn.Linear(width, width), nn.Linear(width, classes)

    def forward(self, ids):
        mask = torch.zeros(ids.shape[0], 1, 1, ids.shape[1])
        x = self.words(ids) + self.places(torch.arange(ids.shape[1])) + self.kinds(torch.zeros_like(ids))
        x = self.norm(x)
        for attention, norm1, up, down, norm2 in self.layers:
            x = norm1(x + attention(x, mask))
            x = norm2(x + down(nn.functional.gelu(up(x))))
        return self.head(torch.tanh(self.pooler(x[:, 0])))


def mlp(*widths):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def cnn():
    conv = lambda a, b: nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b).eval(), nn.ReLU())
    return nn.Sequential(conv(1, 8), nn.MaxPool2d(2), conv(8, 16), nn.Flatten(), nn.Linear(256, 10))


def main():
    name, batch, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    net, x, classes = {
        "mlp": lambda: (mlp(64, 32, 32, 10), torch.randn(40 * batch, 64), 10),
        "wide-mlp": lambda: (mlp(784, 1024, 1024, 10), torch.randn(40 * batch, 784), 10),
        "cnn": lambda: (cnn(), torch.randn(40 * batch, 1, 8, 8), 10),
        "bert-tiny": lambda: (Bert(), torch.randint(0, 2000, (40 * batch, 24)), 3),
    }[name]()
    y = torch.randint(0, classes, (len(x),))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)

    def step(i):
        rows = torch.arange(batch) + i % 40 * batch
        loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()

    for i in range(WARM):
        step(i)
    begin = time.perf_counter()
    for i in range(STEPS):
        step(i)
    print((time.perf_counter() - begin) / STEPS)


if __name__ == "__main__":
    main()
