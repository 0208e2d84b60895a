# SPDX-License-Identifier: Apache-2.0
"""Writes the PyTorch models of docs/tried.md, with samples: NAME.pt2, NAME.npz. Needs torch and numpy."""
import numpy
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
random = numpy.random.RandomState(1)
SAMPLES = 24


def save(name, model, *shapes):
    """Exports a model with a batch axis of 1, and draws samples for its inputs."""
    program = torch.export.export(model.eval(), tuple(torch.randn(1, *s) for s in shapes))
    torch.export.save(program, name + ".pt2")
    inputs = [s.arg.name for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
    numpy.savez(name + ".npz", **{k: random.randn(SAMPLES, 1, *s).astype("float32") for k, s in zip(inputs, shapes)})


def seen(model, *shapes):
    """Gives batch norms statistics to fold."""
    model.train()
    for _ in range(4):
        model(*[torch.randn(8, *s) for s in shapes])
    return model


def block(i, o, stride=1, groups=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride, 1, groups=groups, bias=False), nn.BatchNorm2d(o), nn.ReLU())


def pooled(*layers):
    return nn.Sequential(*layers[:-1], nn.AdaptiveAvgPool2d(1), nn.Flatten(), layers[-1])


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.f = block(3, 8), block(8, 8), nn.Linear(8, 4)
        self.c = nn.Sequential(nn.Conv2d(8, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8))

    def forward(self, x):
        x = self.a(x)
        x = F.relu(x + self.c(self.b(x)))
        return F.softmax(self.f(x.mean((2, 3))), 1)


class Squeeze(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.p, self.q, self.f = block(3, 8), nn.Linear(8, 4), nn.Linear(4, 8), nn.Linear(8, 5)

    def forward(self, x):
        x = self.a(x)
        w = torch.sigmoid(self.q(F.relu(self.p(x.mean((2, 3))))))
        return self.f((x * w[:, :, None, None]).mean((2, 3)))


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.f = nn.Linear(6, 8), nn.Linear(4, 8), nn.Linear(16, 3)

    def forward(self, x, y):
        return self.f(torch.cat([F.relu(self.a(x)), F.relu(self.b(y))], 1))


class Recurrent(nn.Module):
    def __init__(self, layer, bidirectional):
        super().__init__()
        self.r = layer(3, 6, batch_first=True, bidirectional=bidirectional)
        self.f = nn.Linear(12 if bidirectional else 6, 3)

    def forward(self, x):
        return self.f(self.r(x)[0][:, -1])


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.o = block(1, 4), block(4, 8), block(12, 4), nn.Conv2d(4, 1, 1)

    def forward(self, x):
        a = self.a(x)
        b = F.interpolate(self.b(F.max_pool2d(a, 2)), scale_factor=2, mode="nearest")
        return self.o(self.c(torch.cat([a, b], 1)))


class Temporal(nn.Module):
    def __init__(self):
        super().__init__()
        self.i, self.f = nn.Conv1d(2, 8, 1), nn.Linear(8, 3)
        self.l = nn.ModuleList([nn.Conv1d(8, 8, 3, dilation=2**i) for i in range(3)])

    def forward(self, x):
        x = self.i(x)
        for i, c in enumerate(self.l):
            x = x + F.relu(c(F.pad(x, (2 * 2**i, 0))))
        return self.f(x[:, :, -1])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        return F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))


save("mlp_softmax", nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 5), nn.Softmax(1)),
     (16,))
save("lenet", nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(),
                            nn.AvgPool2d(2), nn.Flatten(), nn.Linear(16, 10)), (1, 12, 12))
save("vgg_bn", seen(pooled(block(3, 8), block(8, 8), nn.MaxPool2d(2), block(8, 16), nn.Linear(16, 10)), (3, 8, 8)),
     (3, 8, 8))
save("resnet_block", seen(Residual(), (3, 8, 8)), (3, 8, 8))
save("mobilenet_block", seen(pooled(block(3, 8, 2), block(8, 8, 1, 8), nn.Conv2d(8, 16, 1), nn.ReLU6(),
                                    nn.Linear(16, 4)), (3, 12, 12)), (3, 12, 12))
save("kws_1d", nn.Sequential(nn.Conv1d(10, 16, 5, 2, 2), nn.ReLU(), nn.Conv1d(16, 16, 3, 1, 1, groups=16),
                             nn.Conv1d(16, 24, 1), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(),
                             nn.Linear(24, 12)), (10, 32))
save("gru", Recurrent(nn.GRU, False), (6, 3))
save("bilstm", Recurrent(nn.LSTM, True), (5, 3))
save("se_block", seen(Squeeze(), (3, 8, 8)), (3, 8, 8))
save("hardswish", nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.Hardswish(), nn.Conv2d(8, 8, 3, 1, 1, groups=8),
                                nn.Hardsigmoid(), nn.Flatten(), nn.Linear(128, 6)), (3, 8, 8))
save("autoencoder", nn.Sequential(nn.Linear(20, 12), nn.ReLU(), nn.Linear(12, 4), nn.ReLU(), nn.Linear(4, 12),
                                  nn.ReLU(), nn.Linear(12, 20)), (20,))
save("decoder", nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Unflatten(1, (8, 2, 2)),
                              nn.ConvTranspose2d(8, 4, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(4, 1, 2, 2),
                              nn.Sigmoid()), (4,))
save("unet", seen(UNet(), (1, 8, 8)), (1, 8, 8))
save("tcn", Temporal(), (2, 20))
save("prelu", nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.PReLU(4), nn.Conv2d(4, 4, 3, stride=2),
                            nn.LeakyReLU(0.1), nn.Flatten(), nn.Linear(36, 3)), (1, 8, 8))
save("layernorm_mlp", nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 3)), (8,))
save("two_inputs", TwoInputs(), (6,), (4,))
save("attention", Attention(), (4, 8))
