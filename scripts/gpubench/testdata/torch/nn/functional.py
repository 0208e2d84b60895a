# SPDX-License-Identifier: Apache-2.0
from torch import work

gelu = linear = layer_norm = rms_norm = work


def scaled_dot_product_attention(q, k, v, is_causal=False):
    return work(q, is_causal)
