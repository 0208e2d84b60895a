# SPDX-License-Identifier: Apache-2.0
from torch import work

gelu = linear = layer_norm = rms_norm = work


def scaled_dot_product_attention(q, k, v, is_causal=False, enable_gqa=False, attn_mask=None):
    assert enable_gqa == (q.shape[1] != k.shape[1]) or len(q.shape) == 3
    assert attn_mask is None or attn_mask == (q.shape[2], k.shape[2])
    return work(q)
