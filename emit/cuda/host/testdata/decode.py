# decode.py GIVEN.npz PART: computes the first tokens and those behind them one by one, and compares with the reference.
import sys

import numpy as np

sys.path.insert(0, ".")
import model

given, part = np.load(sys.argv[1]), float(sys.argv[2])
prompt, tokens, want = given["prompt"], given["tokens"], given["logits"]  # [samples, ...]; logits of all tokens
count = prompt.shape[1]


def compare(what, have, want, part=2 * part):  # what is in the caches may differ, too
    if have.shape != want.shape or not np.abs(have - want).max() <= part * np.abs(want).max():
        sys.exit(f"{what}: {have.shape}, off by {np.abs(have - want).max()} of {np.abs(want).max()}")


def refused(text, f, *args, **named):
    try:
        f(*args, **named)
    except model.Error as e:
        if text in str(e):
            return
        raise
    sys.exit(f"nothing is refused where {text!r} should be")


cache = model.new_cache(len(prompt))
compare("prompt", model.run(prompt, cache=cache), want[:, :count], part)
for i in range(tokens.shape[1]):
    compare(f"token {i}", model.decode(tokens[:, i:i + 1], cache=cache), want[:, count + i:count + i + 1])
if cache.length != count + tokens.shape[1]:
    sys.exit(f"{cache.length} tokens are in the cache")

# Fewer tokens first, and the rest one by one: as before, whatever the cache holds behind them.
if count > 1:
    cache.length = 7
    compare("short prompt", model.run(prompt[:, :count - 1], cache=cache), want[:, :count - 1], part)
    compare("last of the prompt", model.decode(prompt[:, -1:], cache=cache), want[:, count - 1:count])
refused("no tokens", model.run, prompt[:, :0], cache=cache)
refused("new_cache of this model", model.run, prompt, cache=5)
refused("a whole number from 1 on", model.new_cache, 0)

cache.length = model.max_seq
refused(f"position {model.max_seq}: the caches have room for {model.max_seq}", model.decode, tokens[:, :1], cache=cache)
refused("give cache=", model.run, prompt)
refused("needs cache=", model.decode, tokens[:, :1])
refused("the cache is for", model.run, prompt, cache=model.new_cache(len(prompt) + 1))
