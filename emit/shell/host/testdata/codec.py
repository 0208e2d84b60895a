# SPDX-License-Identifier: Apache-2.0
"""What codec.c does, in Python. Arguments: the folder of the driver, and that of the values."""

import sys

sys.path.insert(0, sys.argv[1])
import numpy as np
import ports_driver as d

for i, (p, q) in enumerate(zip(d.inputs, d.outputs)):
    values = np.fromfile(f"{sys.argv[2]}/in_{i}", np.float32).reshape((-1,) + p.shape)
    frames = p.encode(values)
    frames.tofile(f"{sys.argv[2]}/frame_{i}")
    q.decode(frames).astype(np.float32).tofile(f"{sys.argv[2]}/value_{i}")
    blocks = "block" in p._v
    (frames if blocks else p.encode(q.decode(frames, codes=True), codes=True)).tofile(f"{sys.argv[2]}/again_{i}")
    for wrong in [values[:, :-1], np.full_like(values, np.nan)]:
        try:
            p.encode(wrong)
        except d.Error:
            continue
        sys.exit(f"{p}: an array that cannot be encoded is taken")
