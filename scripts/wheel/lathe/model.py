# SPDX-License-Identifier: Apache-2.0
"""Models as files that the program reads."""

import os
import sys
from collections.abc import Mapping

from . import arrays


def file(model, folder, example):
    """The path of a file with the model: model itself where it is a path, else a new file in the folder.

    model is a path, the text of a StableHLO module, the bytes of any file that the program reads, an ONNX ModelProto,
    a module of PyTorch or what torch.export made of it, or what jax.export.export or jax.jit(f).lower returned.
    example holds inputs of a module of PyTorch: its arguments in a tuple, or arrays whose first sample will do.
    """
    if isinstance(model, os.PathLike) or isinstance(model, str) and "\n" not in model:
        return os.fspath(model)
    torch = sys.modules.get("torch")
    if is_module(model):
        model = _export(torch, model, example)
    if torch and isinstance(model, torch.export.ExportedProgram):
        path = os.path.join(folder, "model.pt2")
        torch.export.save(model, path)
        return path
    for name, text in (("SerializeToString", "model.onnx"), ("mlir_module", "model.mlir"), ("as_text", "model.mlir")):
        if hasattr(model, name):
            return _write(os.path.join(folder, text), getattr(model, name)())
    if isinstance(model, str):
        return _write(os.path.join(folder, "model.mlir"), model)
    if isinstance(model, (bytes, bytearray, memoryview)):
        return _write(os.path.join(folder, "model"), bytes(model))
    raise TypeError(f"a model is a path, a StableHLO text, bytes, an ONNX proto, a module or exported program of "
                    f"PyTorch, or what jax.export.export returns, not {type(model).__name__}")


def is_module(model):
    """Says whether the model is a module of PyTorch, which has to be exported."""
    torch = sys.modules.get("torch")
    return bool(torch) and isinstance(model, torch.nn.Module)


def _write(path, content):
    with open(path, "wb") as out:
        out.write(content.encode() if isinstance(content, str) else content)
    return path


def _export(torch, module, example):
    """Exports a module as it computes when it is used, and leaves its modes of training as they are."""
    if example is None:
        raise TypeError("a module of PyTorch is exported for inputs: give example= or calibration=")
    training = [m for m in module.modules() if m.training]
    module.eval()
    try:
        return torch.export.export(module, _arguments(torch, module, example))
    finally:
        for m in training:
            m.training = True


def _arguments(torch, module, example):
    """The arguments of a call: a tuple of tensors as it is, else the first sample of each array."""
    if isinstance(example, tuple) and all(isinstance(a, torch.Tensor) for a in example):
        return example
    if isinstance(example, (str, os.PathLike)):
        example = arrays.read(example)
    if isinstance(example, Mapping):
        example = list(example.values())
    elif arrays.is_array(example):
        example = [example]
    weight = next(module.parameters(), None)
    out = []
    for one in example:
        tensor = torch.as_tensor(arrays.array(one)[:1])
        if weight is not None:
            tensor = tensor.to(weight.device, weight.dtype if tensor.is_floating_point() else None)
        out.append(tensor)
    return tuple(out)
