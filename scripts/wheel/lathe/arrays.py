# SPDX-License-Identifier: Apache-2.0
"""Arrays as files that the program reads."""

import json
import os
import zipfile
from collections.abc import Mapping

import numpy


def array(value):
    """A NumPy array of an array, a tensor of PyTorch or JAX, or nested lists of numbers."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":  # NumPy has no such type
            value = value.float()
    return numpy.asarray(value, order="C")


def is_array(value):
    return hasattr(value, "__array__") or hasattr(value, "detach")


def is_path(value):
    return isinstance(value, (str, os.PathLike))


def npz(value, path):
    """The path of an .npz file with the arrays: value itself where it is a path, else a new file at path.

    value is one array, a mapping from names to arrays, or a list or tuple of arrays in order.
    """
    if is_path(value):
        return os.fspath(value)
    if isinstance(value, Mapping):
        named = value
    elif isinstance(value, (list, tuple)) and value and all(is_array(v) for v in value):
        named = {f"arr_{i}": v for i, v in enumerate(value)}
    else:
        named = {"arr_0": value}
    with zipfile.ZipFile(path, "w") as archive:
        for name, one in named.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                numpy.lib.format.write_array(member, array(one), allow_pickle=False)
    return path


def texts(values, path):
    """The path of a new file of lines of JSON with texts, or pairs of texts; None where values are none."""
    first = values[0] if isinstance(values, (list, tuple)) and values else None
    if isinstance(first, str):
        values = [[text] for text in values]
    elif not isinstance(first, (list, tuple)) or not first or not isinstance(first[0], str):
        return None
    with open(path, "w", encoding="utf-8") as file:
        for value in values:
            file.write(json.dumps({f"text{i}": text for i, text in enumerate(value)}) + "\n")
    return path


def samples(value, path):
    """The path of an .npz file with arrays, or of a file of lines with texts, where value is a list of them."""
    return texts(value, path.removesuffix(".npz") + ".jsonl") or npz(value, path)


def npy(value, path):
    """The path of an .npy file with an array: value itself where it is a path, else a new file at path."""
    if is_path(value):
        return os.fspath(value)
    numpy.save(path, array(value), allow_pickle=False)
    return path


def read(path):
    """The only array of an .npz file, or a dict of several."""
    with numpy.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    return arrays if len(arrays) != 1 else next(iter(arrays.values()))
