# SPDX-License-Identifier: Apache-2.0
"""Arguments of calls as flags of the program, with arrays and plans as files."""

import os

from . import arrays, plans

# Arguments that are files for the program, with what writes them and how the file ends.
_FILES = {"inputs": (arrays.npz, ".npz"), "calibrate": (arrays.npz, ".npz"), "bind": (arrays.npz, ".npz"),
          "example": (arrays.npz, ".npz"), "data": (arrays.samples, ".npz"), "eval": (arrays.samples, ".npz"),
          "labels": (arrays.npy, ".npy"), "calibrate_labels": (arrays.npy, ".npy"),
          "eval_labels": (arrays.npy, ".npy"), "plan": (plans.file, ".toml"),
          "space": (plans.file, ".toml")}

# Other names of arguments.
_NAMES = {"calibration": "calibrate", "folder": "output"}

# Lists that the program reads from one flag.
_JOINED = {"formats", "wide"}


def of(values, folder):
    """Flags of the program for arguments by name: model_inputs="x" is --model-inputs=x.

    True is the flag alone, and None is none; arrays, mappings and texts become files in the folder where the program
    wants files.
    """
    out = []
    for name, value in named(values).items():
        if value is None:
            continue
        if name in _FILES:
            write, ending = _FILES[name]
            value = write(value, os.path.join(folder, name + ending))
        if name == "timeout" and isinstance(value, (int, float)):
            value = f"{value}s"
        flag = "--" + name.replace("_", "-")
        if isinstance(value, dict):
            sizes = {k: "x".join(map(str, v)) if isinstance(v, (list, tuple)) else v for k, v in value.items()}
            out += [f"{flag}={k}={v}" for k, v in sizes.items()]
        elif isinstance(value, (list, tuple)):
            out += [f"{flag}={v}" for v in ([",".join(map(str, value))] if name in _JOINED else value)]
        elif isinstance(value, bool):
            out.append(flag if value else flag + "=false")
        else:
            out.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return out


def named(values):
    """The arguments by the names of the program's flags; None counts as not given."""
    out = {}
    for name, value in values.items():
        name = _NAMES.get(name, name)
        if value is not None and out.get(name) is not None:
            other = next(k for k, v in _NAMES.items() if v == name)
            raise TypeError(f"{name} and {other} are two names of one argument: give one")
        if out.get(name) is None:
            out[name] = value
    return out
