# SPDX-License-Identifier: Apache-2.0
"""As much of PyTorch as baselines.py calls. Work takes 2 us a call of a function; a graph repeats what was captured."""
from contextlib import contextmanager
from types import SimpleNamespace

now = [0.0]
graph_of = [None]
int8, uint8 = "i8", "u8"
float32 = SimpleNamespace(itemsize=4)
bfloat16 = SimpleNamespace(itemsize=2)


class Tensor:
    def __init__(self, *shape):
        self.shape = shape

    def to(self, _):
        return self

    unsqueeze = __add__ = to

    def transpose(self, *_):
        return self

    flatten = t = transpose

    def chunk(self, parts, _):
        return (self,) * parts

    def view(self, *shape):
        return Tensor(*shape)

    def __mul__(self, other):
        return work()

    def __sub__(self, other):
        return self


def work(*args, **kwargs):
    if graph_of[0] is not None:
        graph_of[0].parts += 1
    else:
        now[0] += 2 if not args or max(args[0].shape) < 8192 else 60
    return args[0] if args else Tensor(1)


def randn(*shape, device, dtype):
    return Tensor(*shape)


def randint(low, high, shape, device, dtype):
    return Tensor(*shape)


def compile(f, mode=None):
    return f


def exp2(x):
    return x


matmul = _int_mm = work


def softmax(x, axis):
    if max(x.shape) == 666:
        raise RuntimeError("CUDA out of memory\nmore")
    return work(x)


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        self.at = now[0]

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return (end.at - self.at) / 1e3


class CUDAGraph:
    parts = 0

    def replay(self):
        now[0] += 2 * self.parts


@contextmanager
def graph(g, stream):
    graph_of[0] = g
    yield
    graph_of[0] = None


@contextmanager
def stream(s):
    yield


cuda = SimpleNamespace(Event=Event, CUDAGraph=CUDAGraph, graph=graph, Stream=object, stream=stream, synchronize=int,
                       empty_cache=int, get_device_properties=lambda i: SimpleNamespace(L2_cache_size=1 << 20))
