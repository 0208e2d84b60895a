# SPDX-License-Identifier: Apache-2.0
"""Writes aten.zip, as ops.py writes ops.zip, of operations that sort, write at positions or are made of others:
python aten.py"""
import torch, torch.nn as nn, torch.nn.functional as F
from pack import write

torch.manual_seed(0)


class Fn(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, *a):
        return self.f(*a)


r, i = torch.randn, torch.tensor
x, y = r(3, 4), r(3, 4)
ties = i([[2., 1., 2., 0.], [1., 1., 0., 3.]])
at = i([[0, 2, 1, 3], [1, 0, 3, 2]])


def put(v, *index):
    v = v.clone()
    v[index[:-1]] = index[-1]
    return v


def accumulate(v, a, b, u):
    return v.index_put((a, b), u, accumulate=True)


CASES = {k: (Fn(f), a) for k, (f, a) in {
    'sort': (lambda v: torch.sort(v), (x,)),
    'sort_down': (lambda v: torch.sort(v, dim=0, descending=True, stable=True), (ties,)),
    'argsort': (lambda v: torch.argsort(v, dim=-1, stable=True), (ties,)),
    'argsort_down': (lambda v: torch.argsort(v, 0, True), (x,)),
    'scatter': (lambda v, n, u: v.scatter(1, n, u), (r(3, 4), at, r(2, 5))),
    'scatter_value': (lambda v, n: v.scatter(0, n, 7.), (r(4, 4), at)),
    'scatter_add': (lambda v, n, u: v.scatter_add(1, n, u), (r(2, 4), i([[0, 0, 1], [3, 3, 3]]), r(2, 3))),
    'scatter_reduce': (lambda v, n, u: v.scatter_reduce(1, n, u, 'amax'), (r(2, 4), at, r(2, 4))),
    'scatter_multiply': (lambda v, n, u: v.scatter(1, n, u, reduce='multiply'), (r(2, 4), at, r(2, 4))),
    'index_put': (lambda v, n, u: put(v, n, u), (r(5, 3), i([0, 4, -2]), r(3, 3))),
    'index_put_two': (lambda v, a, b, u: put(v, a, b, u), (r(5, 3, 2), i([[0], [4]]), i([0, 2, -1]), r(2))),
    'index_put_add': (accumulate, (r(4, 3), i([0, 0, 1]), i([2, 2, 1]), r(3))),
    'index_put_mask': (lambda v: put(v, v > 0, i(-1.)), (x,)),
    'index_add': (lambda v, n, u: torch.index_add(v, 1, n, u, alpha=2.), (r(2, 4), i([3, 0, 3]), r(2, 3))),
    'var_mean': (lambda v: torch.var_mean(v, dim=1, keepdim=True), (x,)),
    'var_mean_all': (lambda v: torch.var_mean(v, unbiased=False), (x,)),
    'std_mean': (lambda v: torch.std_mean(v, dim=(0, 1), correction=0), (x,)),
    'lerp': (lambda a, b: torch.lerp(a, b, .25), (x, y)),
    'lerp_tensor': (lambda a, b, w: torch.lerp(a, b, w), (x, y, r(4))),
    'addcmul': (lambda a, b, d: torch.addcmul(a, b, d, value=.5), (x, y, r(4))),
    'addcdiv': (lambda a, b, d: torch.addcdiv(a, b, d), (x, y, r(3, 4) + 4)),
    'cosine': (lambda a, b: F.cosine_similarity(a, b), (x, y)),
    'cosine_0': (lambda a, b: F.cosine_similarity(a, b, dim=0, eps=.5), (x * .1, r(3, 1))),
    'exp2': (lambda v: torch.exp2(v), (x,)),
    'frac': (lambda v: torch.frac(v) + torch.trunc(v * 3), (x,)),
    'tile': (lambda v: torch.tile(v, (2,)), (x,)),
    'tile_more': (lambda v: v.tile(2, 1, 3), (x,)),
}.items()}
CASES['conv3d'] = nn.Conv3d(2, 4, (3, 2, 3), stride=(2, 1, 2), padding=(1, 0, 1), dilation=(1, 2, 1)), (r(2, 2, 5, 6, 7),)
CASES['conv3d_same'] = nn.Conv3d(4, 4, 3, padding='same', groups=2, bias=False), (r(4, 4, 5, 3),)
V, SQUARE = r(2, 2, 4, 5, 6), r(2, 3, 5, 6)
CASES['max_pool3d'] = nn.MaxPool3d((2, 3, 2), (2, 1, 2), (1, 1, 0), dilation=(1, 1, 2)), (V,)
CASES['max_pool3d_alone'] = nn.MaxPool3d((2, 1, 1)), (V[0],)
CASES['avg_pool3d'] = nn.AvgPool3d((3, 1, 1)), (V,)
CASES['avg_pool3d_ceil'] = nn.AvgPool3d((3, 2, 3), 2, (1, 0, 1), ceil_mode=True, count_include_pad=False), (V,)
CASES['index_copy'] = Fn(lambda v, u: torch.index_copy(v, 1, i([3, 0, 1]), u)), (x, r(*x.shape[:1], 3))
CASES['index_copy_at'] = Fn(lambda v, n, u: torch.index_copy(v, 1, n, u)), (x, i([3, 0, 1]), r(*x.shape[:1], 3))
CASES['index_fill'] = Fn(lambda v: torch.index_fill(v, -1, i([0, -2]), .5)), (x,)
CASES['unfold'] = Fn(lambda v: v.unfold(2, 3, 2)), (SQUARE,)
CASES['im2col'] = Fn(lambda v: F.unfold(v, (3, 2), (1, 2), (1, 0), (2, 1))), (SQUARE,)
CASES['rrelu'] = nn.RReLU(.1, .4), (x,)
CASES['cdist'] = Fn(torch.cdist), (r(2, 3, 4), r(5, 4))
CASES['cdist_1'] = Fn(lambda a, b: torch.cdist(a, b, p=1.)), (r(3, 4), r(5, 4))
CASES['cdist_inf'] = Fn(lambda a, b: torch.cdist(a, b, p=float('inf'))), (r(3, 4), r(5, 4))
CASES['pairwise'] = Fn(lambda a, b: F.pairwise_distance(a, b, eps=.1, keepdim=True)), (r(3, 4), r(3, 4))

write('aten.zip', CASES)
