# SPDX-License-Identifier: Apache-2.0
from torch import work

linear = layer_norm = rms_norm = work


def scaled_dot_product_attention(q, k, v, is_causal):
    return work(q, is_causal)
