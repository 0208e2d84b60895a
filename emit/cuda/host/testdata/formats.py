# formats.py IN.npz WANT.npz: compares codes and values of a model whose outputs are its inputs with those of the reference.
import sys

import numpy as np

sys.path.insert(0, ".")
import model

given, want = np.load(sys.argv[1]), np.load(sys.argv[2])
wrong = []
for p in model.inputs:
    if p.name + "_codes" in want.files:
        have, codes = p.encode(given[p.name], False)[0].astype(np.int64), want[p.name + "_codes"]
        for i in np.flatnonzero(have != codes)[:3]:
            wrong.append(f"{p.format}: {given[p.name].flat[i]} becomes {have.flat[i]}, want {codes.flat[i]}")
        limits = np.iinfo(p.dtype)
        if p.scales:
            continue
        for codes, says in (([0.5], "whole numbers"), ([np.nan], "whole numbers"), ([limits.max + 1], "the array holds"),
                            ([limits.min - 1], "the array holds"), ([1j], "real numbers")):
            try:
                p.encode(np.array(codes), True)
                wrong.append(f"{p.format}: {codes} are taken for codes")
            except model.Error as e:
                if says not in str(e):
                    wrong.append(f"{p.format}, {codes}: {e}")
for p, y in zip(model.outputs, model.run(*[given[p.name] for p in model.inputs])):
    z = want[p.name]
    if y.dtype != z.dtype or y.shape != z.shape or not (y == z).all():
        wrong.append(f"{p.format}: {y.dtype}{y.shape} {y.flat[:5]}, want {z.dtype}{z.shape} {z.flat[:5]}")
if wrong:
    sys.exit("\n".join(wrong))
